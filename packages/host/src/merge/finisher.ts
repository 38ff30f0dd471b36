/**
 * What changes the repository: a script that needs nobody, so that it goes on when the process that began it is killed. It only
 * runs git and moves files. Its working directory is the work tree; its arguments are what to do, the directory of its
 * files, git's directory, the commit before, the commit after, and what the reflog is told.
 *
 * The branch moves in one step, after the files and before the index: who finds a finisher that was killed itself can tell by
 * the branch whether to undo or to go on.
 */
export const FINISHER = `
trap '' HUP INT TERM PIPE
mode=$1 stage=$2 directory=$3 old=$4 new=$5 message=$6
undo() {
  xargs -0 rm -f -- <"$stage/added"
  git checkout-index -f -z --stdin <"$stage/restored" || exit 3
  xargs -0 rmdir -- <"$stage/directories" 2>/dev/null
  rm -f "$directory/index.lock"
  rm -rf "$stage"
}
forward() {
  if [ -f "$stage/index" ]; then mv -f "$stage/index" "$directory/index" || exit 3; fi
  rm -f "$directory/index.lock"
  rm -rf "$stage"
}
case $mode in
undo) undo ;;
forward) forward ;;
apply)
  : >"$stage/begun" || exit 3
  if GIT_INDEX_FILE="$stage/index" git read-tree -m -u "$old" "$new" && git update-ref -m "$message" HEAD "$new" "$old"; then
    forward
  else
    undo
    exit 4
  fi
  ;;
esac
`;
