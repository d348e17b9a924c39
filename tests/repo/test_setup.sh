#!/usr/bin/env bash
# scripts/setup.sh is silent when all is there, and otherwise names what is missing and the command.
set -eu
[ -z "$(scripts/setup.sh --check build 2>&1)" ]

dir=$(mktemp -d "${TMPDIR:-/tmp}/ttnn-setup.XXXXXX")
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
cp scripts/setup.sh "$dir/"
cat >"$dir/packages" <<-END
	# sets   package     found by   what
	build    package-a   command    sh
	build    package-b   command    no-such-command
	build    package-c   module     no-such-module   1.0
	build,x  package-d   file       /no/such/file*
	x        package-e   file       /etc/pass*
END
expect() {
	local code=$1 want=$2
	shift 2
	if "$@" >"$dir/out" 2>&1; then got=0; else got=$?; fi
	[ "$got" = "$code" ] || { echo "$*: exit $got, not $code"; cat "$dir/out"; exit 1; }
	diff <(echo "$want") "$dir/out"
}
sudo=$([ "$(id -u)" = 0 ] || echo 'sudo ')
expect 1 "setup: not on this machine: package-b package-c package-d
setup: to install it, run:  $sudo$dir/setup.sh build" "$dir/setup.sh" --check
expect 1 "setup: not on this machine: package-d
setup: to install it, run:  $sudo$dir/setup.sh x" "$dir/setup.sh" --check x
expect 1 "setup: no set 'y' in $dir/packages" "$dir/setup.sh" --check y
# Without root nothing is tried.
if [ "$(id -u)" = 0 ]; then
	expect 1 "setup: not on this machine: package-d
setup: to install it, run:  sudo $dir/setup.sh x" \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/setup.sh" x
fi
