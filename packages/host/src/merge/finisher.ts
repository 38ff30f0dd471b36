/** How the finisher ends where somebody else holds the repository's lock. */
export const LOCKED = 5;

/**
 * Undoes one thing for each path of a work tree, as far as it is the merge's: directories are what they are called (one is entered,
 * and is then the one that is worked in, whatever its name becomes; a link has been put there since, and what is behind it is
 * somebody's), and a file holds what the merge writes there, or the beginning of it, since the merge may have been killed while it
 * wrote. What somebody else has made or changed since stays.
 *
 * Its arguments are what to do, the top, the commit after, and the paths. It stands in single quotes.
 */
const UNDO_EACH = `
top=$1 new=$2
shift 2
is_ours() {
  if [ -L "$1" ]; then
    [ "$(readlink "$1")" = "$(git -C "$top" cat-file blob "$new:$path" 2>/dev/null)" ]
  else
    sum=$(cksum <"$1") && size=\${sum#* } &&
      [ "$sum" = "$(git -C "$top" cat-file --filters "$new:$path" 2>/dev/null | head -c "$size" | cksum)" ]
  fi
}
for path do
  at=$top/$path
  while at=\${at%/*}; ! [ -e "$at" ] && ! [ -L "$at" ] && [ "$at" != "$top" ]; do :; done
  cd -P -- "$at" 2>/dev/null && [ "$(pwd -P; echo x)" = "$at
x" ] || continue
  name=./\${path##*/}
  if [ "$at/\${path##*/}" != "$top/$path" ]; then is_there=no
  elif [ -L "$name" ] || [ -f "$name" ]; then
    [ "$0" != rmdir ] && is_ours "$name" || continue
    is_there=yes
  elif [ -d "$name" ]; then
    rmdir "$name" 2>/dev/null || continue
    is_there=no
  elif [ -e "$name" ]; then continue
  else is_there=no
  fi
  case $0-$is_there in
  remove-yes) rm -f "$name" ;;
  name-*) printf "%s\\0" "$path" ;;
  esac
done
exit 0
`;

/**
 * What changes the repository: a script that needs nobody, so that it goes on when the process that began it is killed. It only
 * runs git and moves files. Its working directory is the work tree; its arguments are the id of the plan, what to do, the
 * directory of its files, git's directory, the commit before, the commit after, and what the reflog is told.
 *
 * The branch moves in one step, after the files (which are on the disk by then, whatever happens to the machine) and before the index: who finds a finisher that was killed itself can tell by
 * the branch whether to undo or to go on.
 *
 * Its files go in one step too, to a name that tells whose they are: none of them is ever missed by who finds the others.
 *
 * What git refuses because somebody has just changed or made a file, it refuses before it touches anything, by words of its own:
 * then nothing may be undone, since that would take the new file away.
 */
export const FINISHER = `
trap '' HUP INT TERM PIPE
UNDO_EACH='${UNDO_EACH}'
id=$1 mode=$2 stage=$3 directory=$4 old=$5 new=$6 message=$7
undo() {
  top=$(pwd -P) || exit 3
  undo_added "$stage/added"
  # What files hold on the disk depends on attributes: these go when it is written down which of the others are to be restored.
  if [ -s "$stage/attributes" ]; then
    if ! [ -f "$stage/ours" ]; then mv "$stage/found" "$stage/ours" || exit 3; fi
    undo_added "$stage/attributes"
    git checkout-index -f -z --stdin <"$stage/ours" || exit 3
  fi
  git checkout-index -f -z --stdin <"$stage/found" || exit 3
  settle
  release
}
undo_added() {
  undo_each remove <"$1"
  undo_each rmdir <"$stage/directories"
  undo_each name <"$stage/restored" >"$stage/found" || exit 3
}
undo_each() { xargs -0 sh -c "$UNDO_EACH" "$1" "$top" "$new"; }
forward() {
  if [ -f "$stage/index" ]; then mv -f "$stage/index" "$directory/index" || exit 3; fi
  release
}
settle() { sync -f . "$stage" 2>/dev/null || sync; }
release() {
  mv "$stage" "$stage-$id.$$." || exit 3
  rm -f "$directory/index.lock"
  rm -rf "$stage-$id.$$."
}
case $mode in
undo) undo ;;
forward) forward ;;
apply)
  printf %s "$id" >"$stage/lock" && ln "$stage/lock" "$directory/index.lock" || exit ${LOCKED}
  if ! cp -p "$directory/index" "$stage/index"; then release; exit 3; fi
  export GIT_INDEX_FILE="$stage/index"
  # Files that were touched and are the same are no changes.
  git update-index -q --refresh >/dev/null
  if ! git read-tree -n -m -u "$old" "$new"; then release; exit 4; fi
  if ! : >"$stage/begun"; then release; exit 3; fi
  if git read-tree -m -u "$old" "$new" 2>"$stage/said" && settle && : >"$stage/moving" &&
    git update-ref -m "$message" HEAD "$new" "$old"; then
    forward
  else
    cat "$stage/said" >&2
    case $(head -n 1 "$stage/said") in
    "error: Entry '"* | "error: Untracked "* | "error: Updating '"*) release ;;
    *) unset GIT_INDEX_FILE; undo ;;
    esac
    exit 4
  fi
  ;;
esac
`;
