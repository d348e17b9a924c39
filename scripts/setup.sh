#!/bin/sh
# scripts/setup.sh: install the Debian packages a job needs and this machine lacks.
#
#   scripts/setup.sh [--check] [SET...]     SET: build (default), lint, fuzz, full, python, test, visualizer, cluster, image; see scripts/packages
#
# Silent, and a matter of milliseconds, when all is there. As root it asks nothing. Otherwise, and
# with --check, it changes nothing, says what is missing and how to get it, and exits 1.
#
# Debian 12 has no yyjson. There, Debian 13's package is taken from the very archive the machine
# uses for its own release: apt is asked for that address, so none is written down here, and works
# on it with a configuration of its own in a temporary directory. The machine's sources, lists and
# pins stay as they are, and the archive's signature is checked with Debian's keys.
set -eu

here=${0%/*}
table=$here/packages
next_release=trixie
# Another apt may be at work: wait for it.
apt_options='-y --no-install-recommends -o DPkg::Lock::Timeout=300'
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

die() {
	echo "setup: $*" >&2
	exit 1
}

# True when one of the row's sets was asked for.
asked_for() {
	for set in $asked; do
		case ",$1," in *",$set,"*) return 0 ;; esac
	done
	return 1
}

found() {
	case $1 in
	command) command -v "$2" >/dev/null 2>&1 ;;
	module) pkg-config --exists "$2${3:+ >= $3}" 2>/dev/null ;;
	python) python3 -c "import $2" 2>/dev/null ;;
	file)
		# shellcheck disable=SC2086 # a pattern
		for file in $2; do
			[ ! -e "$file" ] || return 0
		done
		return 1
		;;
	*) die "$table: a row is found by '$1'?" ;;
	esac
}

# Sets missing to the packages of the asked sets that are not here. All modules are looked for at
# once; one by one only if that fails.
look() {
	missing='' modules=''
	while read -r sets _ kind what version; do
		[ "$kind" = module ] && asked_for "$sets" && modules="$modules $what${version:+ >= $version}"
	done <"$table"
	all_modules=''
	# shellcheck disable=SC2086
	[ -z "$modules" ] || ! pkg-config --exists $modules 2>/dev/null || all_modules=1
	while read -r sets package kind what version; do
		case $sets in '' | '#'*) continue ;; esac
		asked_for "$sets" || continue
		[ "$kind" = module ] && [ -n "$all_modules" ] && continue
		found "$kind" "$what" "$version" || missing="$missing $package"
	done <"$table"
	missing=${missing# }
}

# Runs a command; what it printed is shown only if it fails.
quietly() {
	"$@" >"$tmp/log" 2>&1 || {
		cat "$tmp/log" >&2
		return 1
	}
}

has_candidate() { apt-cache policy "$1" | grep -q 'Candidate: [0-9]'; }

# Of "a|b", the first that this machine's sources have; a, if they have none.
choose() {
	for name in $(echo "$1" | tr '|' ' '); do
		has_candidate "$name" && echo "$name" && return
	done
	echo "${1%%|*}"
}

# What to take of the next release for a package that this one has not.
borrowable() {
	case $1 in
	libyyjson-dev) echo libyyjson0 libyyjson-dev ;;
	*) return 1 ;;
	esac
}

# The address of the archive that this release comes from: that of the first list of binary packages
# of its main part. Works for both formats of sources, and before any 'apt-get update'.
own_archive() {
	# shellcheck disable=SC2016 # apt expands these
	apt-get indextargets --no-release-info --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' \
		'Created-By: Packages' |
		awk -v own="$1" '$2 == "main" && ($1 == own || $1 ~ /^(old)?stable$/) { print $3; exit }'
}

# apt-get with one source, and lists and downloads, in $tmp.
apt_apart() {
	apt-get -qq -o Dir::Etc::SourceList="$tmp/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
		-o Dir::State::Lists="$tmp/lists" -o Dir::Cache="$tmp/cache" \
		-o Acquire::Languages=none -o Acquire::AllowInsecureRepositories=false \
		-o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false \
		-o APT::Get::AllowUnauthenticated=false "$@"
}

# Installs packages of the next release by name.
borrow() {
	# shellcheck source=/dev/null
	. /etc/os-release
	[ "${ID-}" = debian ] ||
		die "this machine's sources have no $*, and ${ID-this system} is not Debian: install it by hand"
	archive=$(own_archive "${VERSION_CODENAME-}")
	[ -n "$archive" ] || die "apt knows no source for Debian ${VERSION_CODENAME-} main"
	keys=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -r "$keys" ] || die "$keys is missing: install debian-archive-keyring"
	mkdir -p "$tmp/lists/partial" "$tmp/cache/archives/partial" "$tmp/debs"
	chmod -R a+rX "$tmp" # apt fetches as a user of its own
	echo "deb [arch=$(dpkg --print-architecture) signed-by=$keys] $archive $next_release main" \
		>"$tmp/sources.list"
	quietly apt_apart update ||
		die "Debian $next_release's list of packages cannot be had, or its signature is not good"
	(cd "$tmp/debs" && quietly apt_apart download "$@") || die "cannot fetch $*"
	# Not dpkg: apt refuses before it changes anything when a dependency is too old here.
	# shellcheck disable=SC2086
	quietly apt-get install $apt_options "$tmp"/debs/*.deb ||
		die "Debian $next_release's $* cannot be installed here"
}

install_missing() {
	own='' borrowed=''
	quietly apt-get update -q || echo "setup: 'apt-get update' failed; going on with old lists" >&2
	for package in $missing; do
		name=$(choose "$package")
		if has_candidate "$name"; then
			own="$own $name"
		elif more=$(borrowable "$name"); then
			borrowed="$borrowed $more"
		else
			die "this machine's sources have no package $name"
		fi
	done
	# shellcheck disable=SC2086
	[ -z "$own" ] || quietly apt-get install $apt_options $own || die "apt-get cannot install$own"
	# shellcheck disable=SC2086
	[ -z "$borrowed" ] || borrow $borrowed
}

check=''
if [ "${1-}" = --check ]; then
	check=1
	shift
fi
asked=${*:-build}
for set in $asked; do
	grep -Eq "^([a-z,]+,)?${set}[, ]" "$table" || die "no set '$set' in $table"
done

look
[ -n "$missing" ] || exit 0
if [ -n "$check" ] || [ "$(id -u)" != 0 ]; then
	echo "setup: not on this machine: $missing" >&2
	echo "setup: to install it, run:  $([ "$(id -u)" = 0 ] || echo 'sudo ')$0 $asked" >&2
	exit 1
fi
command -v apt-get >/dev/null 2>&1 || die "no apt-get here: install by hand what is missing: $missing"
echo "setup: installing $missing" >&2
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ttnn-setup.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$tmp"
install_missing
look
[ -z "$missing" ] || die "installed, and still not found: $missing"
