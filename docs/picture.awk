# Draws what a run says as a terminal: the picture of the README, docs/picture.svg.
#
#     ./x run --headless --counted --seconds 3 --load hackbench,disk,cache,net | LC_ALL=C awk -f docs/picture.awk >docs/picture.svg

BEGIN {
	COLUMN = 7.8; LINE = 17; LEFT = 18; WIDTH = 909
	HEAD = 20; TAIL = 3		# rows of the histogram that are shown, the others are counted
	command = "./x run --headless --counted --seconds 3 --load hackbench,disk,cache,net"
	y = 64
	put(0, "$ " command, "#e6edf3")
	y += LINE
}

# Characters of a text in UTF-8.
function length_of(text) {
	gsub(/[\200-\277]/, "", text)
	return length(text)
}

function put(column, text, colour) {
	body = body sprintf("<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\" fill=\"%s\">%s</text>\n",
		LEFT + COLUMN * column, y, COLUMN * length_of(text), colour, text)
}

# The words of a line, each where it stands; what one space parts is one.
function words(line, colour,    column, end, word) {
	while (match(line, /[^ ]/)) {
		column += RSTART - 1
		line = substr(line, RSTART)
		end = match(line, /  +/) ? RSTART - 1 : length(line)
		word = substr(line, 1, end)
		put(column, word, colour)
		column += length_of(word)
		line = substr(line, end + 1)
	}
}

# A row of the histogram: the bar at its end is a rectangle.
function row(line,    bar) {
	match(line, / (\342\226\210)+$/)
	bar = (RLENGTH - 1) / 3
	line = substr(line, 1, RSTART - 1)
	words(line, "#c9d1d9")
	body = body sprintf("<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"12\" fill=\"#2f81f7\"/>\n",
		LEFT + COLUMN * (length(line) + 1), y - 10, COLUMN * bar)
	y += LINE
}

function histogram(    i) {
	for (i = 1; i <= rows; i++) {
		if (i == HEAD + 1 && rows > HEAD + TAIL) {
			words("       ...  (" rows - HEAD - TAIL " lines left out of this picture)", "#8b949e")
			y += LINE
			i = rows - TAIL + 1
		}
		row(rowed[i])
	}
	rows = 0
}

/\342\226\210$/ { rowed[++rows] = $0; next }
rows { histogram() }
/^task / { words($0, "#79c0ff"); y += LINE; table = 1; next }
table && NF {
	words($0, "#7ee787"); y += LINE; table = 0
	told = "Task " $1 ", period " $2 " " $3 ", " $4 " samples: min " $5 " ns, avg " $7 " ns, p99 " $9 " ns, p99.99 " $11 " ns, max " $13 " ns, " $15 " overruns"
	next
}
/^latency of/ { words($0, "#79c0ff"); y += LINE; next }
# The longest line, in pieces.
/^exits/ {
	put(0, "exits", "#8b949e")
	rest = substr($0, 14)
	while (rest != "") {
		piece = substr(rest, 1, 90)
		if (length(rest) > 90) sub(/ [^ ]*$/, "", piece)
		put(13, piece, "#8b949e"); y += LINE
		rest = substr(rest, length(piece) + 2)
	}
	next
}
{ words($0, "#c9d1d9"); y += LINE }

END {
	height = y + 8
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-labelledby=\"t d\">\n", WIDTH, height, WIDTH, height
	print "<title id=\"t\">A counted run of Pillion: the task's latency while Linux works</title>"
	print "<desc id=\"d\">Terminal output. " told ", while Linux ran hackbench, disk, cache and net.</desc>"
	printf "<rect width=\"%d\" height=\"%d\" rx=\"9\" fill=\"#0d1117\"/>\n", WIDTH, height
	printf "<path d=\"M0 9a9 9 0 0 1 9-9h%da9 9 0 0 1 9 9v23h-%dz\" fill=\"#21262d\"/>\n", WIDTH - 18, WIDTH
	split("#ff7b72 #d29922 #3fb950", light, " ")
	for (i = 1; i <= 3; i++) printf "<circle cx=\"%d\" cy=\"16\" r=\"6\" fill=\"%s\"/>\n", 20 * i, light[i]
	print "<text x=\"454\" y=\"21\" text-anchor=\"middle\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#8b949e\">Pillion</text>"
	print "<g font-family=\"ui-monospace, 'DejaVu Sans Mono', 'Liberation Mono', Menlo, Consolas, monospace\" font-size=\"13\">"
	printf "%s</g></svg>\n", body
}
