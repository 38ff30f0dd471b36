/** How the finisher ends where somebody else holds the repository's lock. */
export const LOCKED = 5;

/**
 * Undoes one thing for each path of a work tree, as far as it is the merge's: directories are what they are called (one is entered,
 * and is then the one that is worked in, whatever its name becomes; a link has been put there since, and what is behind it is
 * somebody's), and a file holds what the merge writes there, or the beginning of it, since the merge may have been killed while it
 * wrote. What somebody else has made or changed since stays. What the merge writes is asked where nothing but the attributes of the
 * commit after lie: those of the work tree may be undone already.
 *
 * Its arguments are what to do, the top, the commit after, the stage, git's directory, and the paths. It stands in single quotes.
 */
const UNDO_EACH = `
top=$1 new=$2 stage=$3 directory=$4
shift 4
as_new() {
  GIT_INDEX_FILE="$stage/after" git -C "$stage/as-new" --git-dir="$directory" --work-tree="$stage/as-new" cat-file "$@" 2>/dev/null
}
is_ours() {
  if [ -L "$1" ]; then
    [ "$(readlink "$1")" = "$(as_new blob "$new:$path")" ]
  else
    size=$(wc -c <"$1") && as_new --filters "$new:$path" | head -c $size | cmp -s - "$1"
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
  remove-yes) rm -f "$name" || exit 1 ;;
  name-*) printf "%s\\0" "$path" || exit 1 ;;
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
  top=$(pwd -P) && can_tell || exit 3
  undo_each remove <"$stage/added" || exit 3
  undo_each rmdir <"$stage/directories" || exit 3
  # While there are none, git goes by those of the index: these are as before.
  undo_each remove <"$stage/attributes" || exit 3
  restore
  settle
  release
}
# Else all that the merge has written would be taken for somebody's.
can_tell() { [ -d "$stage/as-new" ] && git cat-file -e "$new^{tree}" && cmp -s "$stage/plan" "$stage/plan"; }
attributes_as_new() {
  mkdir "$stage/as-new" && GIT_INDEX_FILE="$stage/after" git read-tree "$new" &&
    GIT_INDEX_FILE="$stage/after" GIT_LITERAL_PATHSPECS=0 git ls-files -z -- ":(glob)**/.gitattributes" >"$stage/listed" &&
    GIT_INDEX_FILE="$stage/after" git --git-dir="$directory" --work-tree="$stage/as-new" checkout-index -z --stdin <"$stage/listed" &&
    { ! [ -s "$stage/listed" ] || settle; }
}
# Through a pipe, since the disk may be full; a list that is cut short is no success.
restore() {
  codes=$({ { undo_each name <"$stage/restored"; echo $? >&3; } | git checkout-index -f -z --stdin >&2; echo $? >&3; } 3>&1)
  [ "$codes" = "0
0" ] || exit 3
}
undo_each() { xargs -0 sh -c "$UNDO_EACH" "$1" "$top" "$new" "$stage" "$directory"; }
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
  if ! attributes_as_new || ! can_tell || ! : >"$stage/begun"; then release; exit 3; fi
  if said=$(git read-tree -m -u "$old" "$new" 2>&1) && settle && : >"$stage/moving" &&
    git update-ref -m "$message" HEAD "$new" "$old"; then
    forward
  else
    printf "%s\\n" "$said" >&2
    case $(printf "%s\\n" "$said" | sed -n "/^error: /{p;q;}") in
    "error: Entry '"* | "error: Untracked "* | "error: Updating '"*) release ;;
    *) unset GIT_INDEX_FILE; undo ;;
    esac
    exit 4
  fi
  ;;
esac
`;
