/** Exit code if the repository's lock cannot be taken, usually because another process holds it. */
export const LOCKED = 5;

/** Exit code if untracked files lie at paths that the merge writes. */
export const IN_THE_WAY = 6;

/** Exit code if, once the lock is held, another commit or branch is checked out or another operation is unfinished. */
export const CHANGED = 7;

/** Line after which the untracked paths are printed, each ended by NUL. */
export const THEY_ARE = 'In the way:';

/**
 * Undoes what a merge did to each of the given paths of a work tree, as far as the merge did it: removes a file or a
 * directory, restores a kept file, or sets the mode of a directory. A directory on the way is the merge's if it is a
 * real directory: the script enters it and works in it, whatever its name becomes. If a link has replaced it, the
 * target is the user's. A file is the merge's if it holds what the merge writes there, or a prefix of that, since the
 * merge may have been killed while writing. Anything that the user has created or changed since is kept. git writes the
 * expected content in a directory that holds only the attributes of the new commit, because those of the work tree may
 * already be undone. If the expected content cannot be determined, not even from how git reads the file, the whole undo
 * stops there.
 *
 * A file is restored by giving the kept file its name again, which needs no disk space; a file that is already as it
 * was is left alone, even if it could not be changed. The kept file stays too, for a process that has to start again:
 * it is moved only if the file system has no hard links. Moving to another disk is a copy, which is recorded first; a
 * partial copy is recognized because it is a prefix of the kept file. A link at the destination is removed first,
 * because the file would otherwise be moved into a directory that it leads to. A kept file that is missing has been
 * moved, unless the merge's content is still there.
 *
 * The mode of a directory that was removed, and created again for a file in it, is restored last, unless the user has
 * created the directory anew.
 *
 * Arguments: the action, the top of the work tree, the old and the new commit, the stage, git's directory, and the
 * paths. The script is put in single quotes, so it must not contain any.
 */
const UNDO_EACH = `
top=$1 old=$2 new=$3 stage=$4 directory=$5
shift 5
as_new() {
  GIT_INDEX_FILE="$stage/after" git -C "$stage/as-new" --git-dir="$directory" --work-tree="$stage/as-new" "$@"
}
unknown() {
  printf "It could not be found out what is there: %s\n" "$path" >&2
  exit 1
}
not_written() {
  at_new=$(as_new ls-tree "$new" -- "$path") || unknown
  case $at_new in
  "" | "160000 "* | "040000 "*) return 0 ;;
  *) unknown ;;
  esac
}
is_ours() {
  if [ -L "$1" ]; then
    written=$(as_new cat-file blob "$new:$path" 2>/dev/null && echo && echo x) || { not_written && return 1; }
    [ "$(readlink "$1" && echo x)" = "$written" ]
    return
  fi
  size=$(wc -c <"$1") || unknown
  size=$((size))
  if [ -e "$stage/copies" ] && [ -f "$kept" ] && ! [ -L "$kept" ] && [ $size -le $(($(wc -c <"$kept"))) ]; then
    head -c $size "$kept" | cmp -s - "$1" && return 0
  fi
  begins "$1" "$new"
  case $codes in
  *"git 0"*) ;;
  *) { is_read_as_new "$1" && return; } || { not_written && return 1; } ;;
  esac
  case $codes in
  *"cmp 0"*) return 0 ;;
  *"cmp 1"*) return 1 ;;
  *) unknown ;;
  esac
}
begins() {
  codes=$({
    { as_new cat-file --filters "$2:$path" 2>/dev/null; echo "git $?" >&3; } |
      { head -c $size | cmp -s - "$1"; echo "cmp $?" >&3; cat >/dev/null; }
  } 3>&1)
}
# Some filters need a server for smudge and none for clean.
is_read_as_new() {
  at_new=$(as_new rev-parse -q --verify "$new:$path") && [ "$(as_new hash-object --path="$path" --stdin <"$1")" = "$at_new" ]
}
# The mode of a copy is set last.
is_back() {
  if [ -L "$kept" ]; then [ -L "$1" ] && [ "$(readlink "$1" && echo x)" = "$(readlink "$kept" && echo x)" ]
  elif [ -L "$1" ]; then return 1
  elif [ -d "$kept" ]; then [ -d "$1" ]
  elif [ "$1" -ef "$kept" ]; then return 0
  else [ -f "$1" ] && cmp -s "$1" "$kept" && [ "$(mode_of "$1")" = "$(mode_of "$kept")" ]
  fi
}
mode_of() {
  mode=$(ls -ld "$1") || unknown
  printf %s "\${mode%"\${mode#??????????}"}"
}
restore() {
  if ! [ -L "$kept" ] && [ -d "$kept" ]; then rm -f "$1" && mkdir "$1"; return; fi
  { ln -f "$kept" "$1" 2>/dev/null && is_back "$1"; } || { : >"$stage/copies" && mv -f "$kept" "$1"; }
}
# It may already have been moved back.
is_lost() {
  [ -f "$1" ] && ! [ -L "$1" ] && is_ours "$1" || return 1
  begins "$1" "$old"
  case $codes in
  *"git 0"*"cmp 0"* | *"cmp 0"*"git 0"*) return 1 ;;
  esac
  printf "What was kept of a file is gone, and it is as the merge has written it: %s\n" "$path" >&2
}
enter() {
  [ -d "$1" ] || return 1
  cd -P -- "$1" || unknown
  [ "$(pwd -P; echo x)" = "$1
x" ]
}
# The inode number tells a directory made here from one that the user has created again.
make() {
  rest=$1
  while [ -n "$rest" ]; do
    mkdir "./\${rest%%/*}" && cd -P -- "./\${rest%%/*}" && mkdir -p "$stage/made/$(number_here)" || return 1
    rest=\${rest#*/}
  done
}
number_here() {
  set -- $(ls -di .)
  printf %s "$1"
}
for path do
  kept=
  case $0 in
  chmod)
    mode=\${path%%/*} path=\${path#*/}
    if enter "$top/$path" && [ -d "$stage/made/$(number_here)" ]; then chmod "$mode" . 2>/dev/null; fi
    continue
    ;;
  esac
  if [ "$0" = restore ]; then
    case \${path%%/*} in *[!0-9]*) continue ;; esac
    kept=$stage/kept/\${path%%/*} path=\${path#*/}
  fi
  in=$top/$path in=\${in%/*} at=$in
  while ! [ -e "$at" ] && ! [ -L "$at" ] && [ "$at" != "$top" ]; do at=\${at%/*}; done
  enter "$at" || continue
  name=./\${path##*/}
  if [ "$0" = restore ] && ! [ -e "$kept" ] && ! [ -L "$kept" ]; then
    if [ "$at" = "$in" ] && is_lost "$name"; then exit 1; fi
    continue
  fi
  if [ "$at" != "$in" ]; then is_there=no
  elif [ "$0" = restore ] && is_back "$name"; then continue
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
  restore-*)
    if [ "$at" != "$in" ]; then make "\${in#"$at"/}/" && enter "$in" || unknown; fi
    if [ -L "$name" ]; then rm -f "$name" || exit 1; fi
    restore "$name" || exit 1
    ;;
  esac
done
exit 0
`;

/**
 * Script that changes the repository. It runs on its own, so it continues when the process that started it is killed.
 * It runs git and the usual file programs of POSIX. Its working directory is the work tree. Arguments: the id of the
 * plan, the action, the stage, git's directory, the old commit, the new commit, the reflog message, the branch, and the
 * names of files that mark unfinished operations in git's directory.
 *
 * The branch moves last and atomically, after the files and the index, which are synced to disk by then. A process that
 * finds the stage of a killed finisher can tell by the branch whether to undo or to complete the merge. If the user
 * removes the lock and commits in between, that commit does not revert the merge: before the branch moves, the merge is
 * either staged or, for git, not begun.
 *
 * The stage's files are removed by one rename, to a name that identifies the owner, so no process sees only a part of
 * them.
 *
 * If git refuses because the user has just changed or created a file, it refuses before it touches anything, with its
 * own message. Nothing may be undone then, because that would remove the new file.
 */
export const FINISHER = `
trap '' HUP INT TERM PIPE
UNDO_EACH='${UNDO_EACH}'
MEET_EACH='for path do if [ -e "$path" ] || [ -L "$path" ]; then printf "%s\\0" "$path"; fi; done'
id=$1 mode=$2 stage=$3 directory=$4 old=$5 new=$6 message=$7 branch=$8
shift 8
# One of these names may be a hard link to another file: nothing is written into it.
for name in worker met others listed given; do rm -f "$stage/$name"; done
printf %s $$ >"$stage/worker"
undo() {
  top=$(pwd -P) && is_able && has_kept && take && attributes_as_new && index_back || exit 3
  undo_each remove <"$stage/added" || exit 3
  undo_each rmdir <"$stage/directories" || exit 3
  undo_each restore <"$stage/restored" || exit 3
  undo_each chmod <"$stage/modes" || exit 3
  settle
  release
}
# Complete, or not under this name. A crash of the machine may have lost it again.
attributes_as_new() (
  [ -d "$stage/as-new" ] && exit
  export GIT_INDEX_FILE="$stage/after"
  rm -rf "$stage/making" "$stage/after.lock" && mkdir "$stage/making" && git read-tree "$new" &&
    GIT_LITERAL_PATHSPECS=0 git ls-files -z -- ":(glob)**/.gitattributes" >"$stage/listed" &&
    git --git-dir="$directory" --work-tree="$stage/making" checkout-index -z --stdin <"$stage/listed" &&
    settle && mv "$stage/making" "$stage/as-new"
)
undo_each() { xargs -0 sh -c "$UNDO_EACH" "$1" "$top" "$old" "$new" "$stage" "$directory"; }
# Once the branch has moved the index is complete, whatever the user has changed in it since.
forward() {
  [ -f "$stage/before" ] || {
    echo "An older version has left this, which moved the branch first: remove index.lock and scratchfs-merge in the directory of git, then git reset" >&2
    exit 3
  }
  release
}
# If git has written the index since, all other staged changes stay.
index_back() {
  [ -f "$stage/before" ] && ! cmp -s "$stage/before" "$directory/index" || return 0
  # A repository that has never had a file has no index until the merge creates it.
  if ! [ -e "$directory/index" ] && ! [ -e "$stage/indexed" ]; then return 0; fi
  rm -f "$stage/given" "$stage/given.lock"
  if ! [ -e "$directory/index" ] || cmp -s "$stage/index" "$directory/index"; then twin "$stage/before" "$stage/given"
  else cp -p "$directory/index" "$stage/given" && GIT_INDEX_FILE=$stage/given git read-tree -i -m "$new" "$old"
  fi && mv -f "$stage/given" "$directory/index"
}
twin() { ln "$1" "$2" 2>/dev/null || cp -p "$1" "$2"; }
# Lists existing paths that are not in the index. Only existing ones are passed to git, which compares each path with each name.
others() {
  cat "$@" | xargs -0 sh -c "$MEET_EACH" sh >"$stage/met" &&
    xargs -0 sh -c '[ $# = 0 ] || git ls-files --others -z -- "$@"' sh <"$stage/met" >"$stage/others"
}
has_kept() { [ -d "$stage/kept" ] || { echo "The files as they were before are not kept here any more" >&2; return 1; }; }
is_able() {
  for program in cat cmp head ln ls mv readlink rmdir sed wc xargs; do
    command -v "$program" >/dev/null || { echo "The program $program is needed and not there" >&2; return 1; }
  done
  cmp -s "$stage/plan" "$stage/plan" || { echo "Files cannot be compared (cmp)" >&2; return 1; }
  git cat-file -e "$new^{tree}" || { echo "The commit of the merge cannot be read" >&2; return 1; }
}
# The user may have removed the lock, as git advises, and another git may have taken it.
take() {
  is_mine || { echo "Another merge is being brought into the repository" >&2; return 1; }
  holds || ln "$stage/lock" "$directory/index.lock" 2>/dev/null || {
    echo "The repository is locked (index.lock): another git is at work in it" >&2
    return 1
  }
}
# From here on git commit, checkout and merge are kept out. Before, another process may have made the very same changes.
is_as_planned() {
  [ "$(git symbolic-ref -q HEAD)" = "$branch" ] && [ "$(git rev-parse HEAD)" = "$old" ] || return 1
  for name do if [ -e "$directory/$name" ] || [ -L "$directory/$name" ]; then return 1; fi; done
}
ended=0
move() {
  git update-ref -m "$message" "$branch" "$new" "$old"
  ended=$?
  return $ended
}
# git may fail after it has moved the branch. If another process has moved it, a script cannot decide whose the files are.
has_moved() {
  case $(git rev-parse -q --verify "$branch") in
  "$new") ;;
  "$old") return 1 ;;
  *) exit 3 ;;
  esac
}
settle() { sync -f . "$stage" 2>/dev/null || sync; }
holds() { is_mine && cmp -s "$stage/lock" "$directory/index.lock"; }
# The stage of another merge may lie there by now.
is_mine() { [ "$(cat "$stage/lock")" = "$id" ]; }
release() {
  is_mine || exit 3
  mv "$stage" "$stage-$id.$$." || exit 3
  if cmp -s "$stage-$id.$$./lock" "$directory/index.lock"; then rm -f "$directory/index.lock"; fi
  rm -rf "$stage-$id.$$."
}
case $mode in
undo) undo ;;
forward) forward ;;
apply)
  is_able || exit 3
  ln "$stage/lock" "$directory/index.lock" || exit ${LOCKED}
  is_as_planned "$@" || { release; exit ${CHANGED}; }
  # A repository that has never had a file has no index.
  if [ -e "$directory/index" ]; then twin "$directory/index" "$stage/before"
  else GIT_INDEX_FILE=$stage/before git read-tree "$old"
  fi && cp -p "$stage/before" "$stage/index" || { release; exit 3; }
  export GIT_INDEX_FILE="$stage/index"
  # Touched files with the same content are not changes.
  git update-index -q --refresh >/dev/null
  # This waits for the disk. Nothing after it does, so the results of the checks still hold when git begins.
  attributes_as_new || { release; exit 3; }
  if ! git read-tree -n -m -u "$old" "$new"; then release; exit 4; fi
  # git overwrites ignored files.
  others "$stage/added" "$stage/directories" || { release; exit 3; }
  if [ -s "$stage/others" ]; then
    echo "${THEY_ARE}" >&2
    cat "$stage/others" >&2
    release
    exit ${IN_THE_WAY}
  fi
  : >"$stage/begun" || { release; exit 3; }
  # git only warns about files that it cannot remove.
  if said=$(git read-tree -m -u "$old" "$new" 2>&1) && others "$stage/removed" && ! [ -s "$stage/others" ] &&
    : >"$stage/indexed" && twin "$stage/index" "$stage/given" && mv -f "$stage/given" "$directory/index" &&
    settle && : >"$stage/moving" && holds && move; then
    release
  elif [ "$ended" -gt 128 ]; then
    # git was killed and may have left locks: the recovery handles them.
    exit 3
  elif [ -e "$stage/moving" ] && has_moved; then
    release
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
