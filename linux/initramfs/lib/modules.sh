# load_modules LIST: loads the modules of that list in /lib/modules; reports those that cannot be
# loaded.
load_modules() {
    all=0
    while read -r module; do
        insmod "/lib/modules/$module" || { echo "$module could not be loaded" >&2; all=1; }
    done <"/lib/modules/$1"
    return $all
}
