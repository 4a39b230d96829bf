#!/bin/sh
# The manual page and --help describe the same options, and with doc/gfxsim.md the same variables and devices. (A unit test
# compares the table that --help is made of with both, row by row): option_docs.sh GFXSIM-RUN PAGE GFXSIM.MD
set -eu
failed=0
long_options() {
  grep -oE -- '--[a-z][a-z-]*' | sort -u
}
help=$("$1" --help | long_options)
page=$(sed 's/\\-/-/g; s/\\f[BIRP]//g' "$2" | long_options)
[ -n "$help" ] || { echo "--help shows no options" >&2; exit 1; }
for option in $help; do
  echo "$page" | grep -qxe "$option" || { echo "the page lacks $option" >&2; failed=1; }
done
for option in $page; do
  echo "$help" | grep -qxe "$option" || { echo "--help lacks $option" >&2; failed=1; }
done
variables() {
  grep -oE 'GFXSIM_[A-Z_]+' | sort -u
}
table=$(grep -E '^\| `GFXSIM_' "$3" | variables)
[ -n "$table" ] || { echo "$3 has no table of variables" >&2; exit 1; }
[ "$("$1" --help | variables)" = "$table" ] || { echo "--help and $3 have different variables" >&2; failed=1; }
[ "$(variables <"$2")" = "$table" ] || { echo "$2 and $3 have different variables" >&2; failed=1; }
rows=$("$1" --list-devices |
  sed -nE 's/^((gfx|mi)[0-9a-f]+) +AMD (Radeon |Instinct )*(.*), ([0-9]+) compute units, ([0-9]+) GiB$/| `\1` | \4 | \5 | \6 GiB |/p')
[ -n "$rows" ] || { echo "--list-devices lists none" >&2; exit 1; }
[ "$(grep -E '^\| `(gfx|mi)[0-9]' "$3")" = "$rows" ] || { printf '%s lacks this table of devices:\n%s\n' "$3" "$rows" >&2; failed=1; }
devices=$("$1" --list-devices | sed 's/ .*//' | sort)
[ "$(sed -n '/devices= LIST/,/^\.BI :/p' "$2" | grep -oE '(gfx|mi)[0-9a-f]+' | sort)" = "$devices" ] ||
  { echo "$2 does not name the devices" >&2; failed=1; }
if command -v man >/dev/null 2>&1; then
  warnings=$(LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -E UTF-8 -l "$2" 2>&1 >/dev/null)
  [ -z "$warnings" ] || { echo "$warnings" >&2; failed=1; }
fi
exit $failed
