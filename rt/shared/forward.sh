#!/bin/sh
# Makes the headers that a table lists: forward.sh TABLE FOLDER
set -eu
umask 022
while read -r line; do
	case $line in
	'') ;;
	'#'*) comment=${line#\# } ;;
	*)
		for name in ${line#*:}; do
			file=$2/$name
			[ -d "${file%/*}" ] || mkdir -p "${file%/*}"
			echo "/* $comment */" >"$file"
			for included in ${line%:*}; do
				[ "$included" = nothing ] || echo "#include <$included>"
			done >>"$file"
		done
		;;
	esac
done <"$1"
