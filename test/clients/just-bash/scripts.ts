/**
 * Typical uses of a shell. Each script starts in an empty folder, without `set -e`, so that failures are part of it.
 * Times and owners are not printed, because they differ between machines.
 */
export const scripts: Readonly<Record<string, string>> = {
  'pipes and redirects': `
printf 'pear 3\\napple 10\\nplum 7\\napple 2\\n' > fruit.txt
sort fruit.txt | cut -d' ' -f1 | uniq -c | sort -rn | sed 's/^ *//' > counts.txt
cat counts.txt
wc -l < fruit.txt | tr -d ' '
grep -c apple fruit.txt
{ echo out; echo err >&2; } > out.txt 2> err.txt
cat err.txt out.txt
cat fruit.txt | tee copy.txt | head -n 1
cat none.txt 2>/dev/null || echo "no such file: $?"
ls none > both.txt 2>&1; echo "exit $?"; wc -l < both.txt | tr -d ' '
`,
  'here-documents and here-strings': `
name=Ada
cat > letter.txt <<END
Dear $name,
  1 + 1 = $((1 + 1))
	tabbed \`echo command\`
END
cat > raw.txt <<'END'
Dear $name, \\n stays
END
cat <<-END
	tabs go
	  spaces stay
	END
tr a-z A-Z <<< "$name loves grep"
cat letter.txt raw.txt
`,
  'globs and braces': `
mkdir -p src/{a,b}/deep docs
touch src/{a,b}/{one,two}.ts src/a/deep/three.js docs/read-me.md .hidden 'with space.txt'
echo src/*/*.ts
echo src/**/deep/*
echo *.{txt,none}
echo [a-d]*
echo ?rc s?c none*
for f in *; do echo "<$f>"; done
shopt -s globstar nullglob dotglob
echo src/**/*.js
echo none* end
echo *
`,
  find: `
mkdir -p tree/a/b tree/c .git
echo 1 > tree/a/one.txt; echo 22 > tree/a/b/two.log; echo 333 > tree/c/three.txt; : > tree/empty
ln -s a/one.txt tree/link
find tree | sort
find tree -type f -name '*.txt' | sort
find tree -type d | sort
find tree -maxdepth 1 | sort
find tree -size -3c -type f | sort
find tree -empty | sort
find . -path ./.git -prune -o -type f -print | sort
find tree -name '*.txt' -exec cat {} \\; | sort
find tree -name '*.txt' -exec grep -l 3 {} +
find tree -type f -not -name '*.txt' | sort | xargs -n 1 basename
find tree -name '*.log' -delete
find tree -type f | sort
find nowhere; echo "exit $?"
`,
  grep: `
mkdir -p src/sub
printf 'alpha\\nBeta\\ngamma 42\\n' > src/a.txt
printf 'delta\\nalpha beta\\n' > src/sub/b.txt
printf '\\000bin\\n' > src/c.bin
grep -rn alpha src | sort
grep -i beta src/a.txt src/sub/b.txt
grep -rl gamma src
grep -v a src/a.txt; echo "exit $?"
grep -E '^[a-z]+ [0-9]{2}$' src/a.txt
grep -oE '[0-9]+' src/a.txt
grep -q alpha src/a.txt && echo quiet
grep nothing src/a.txt; echo "exit $?"
grep alpha none.txt; echo "exit $?"
grep -A1 -n Beta src/a.txt
grep -rh --include='*.txt' alpha src | sort
`,
  sed: `
printf 'one\\ntwo\\nthree\\nfour\\n' > lines.txt
sed -n '2,3p' lines.txt
sed 's/o/0/g; /three/d' lines.txt
sed -i 's/^t/T/' lines.txt; cat lines.txt
sed -e '1i\\
before' -e '$a\\
after' lines.txt
sed -E 's/(T)(.*)/\\2-\\1/' lines.txt
sed '/Two/,/Three/s/$/!/' lines.txt
sed = lines.txt | head -n 2
sed -i '1d' lines.txt; ls; wc -l < lines.txt | tr -d ' '
sed -i s/x/y/ none.txt; echo "exit $?"
`,
  awk: `
printf 'ada,36,london\\ngrace,85,new york\\nalan,41,wilmslow\\n' > people.csv
awk -F, '{ print $1 " is " $2 }' people.csv
awk -F, '$2 > 40 { n++; sum += $2 } END { printf "%d people, %.1f on average\\n", n, sum / n }' people.csv
awk -F, 'BEGIN { OFS = "|" } { $1 = toupper($1); print NR, $1, length($3) }' people.csv
awk -F, '{ print $3 > ($1 ".txt") }' people.csv; cat grace.txt
awk -F, '{ count[substr($1, 1, 1)]++ } END { for (k in count) print k, count[k] }' people.csv | sort
awk '/a/,/b/ { print FILENAME ": " $0 }' people.csv | head -n 1
`,
  'loops, functions and arithmetic': `
total=0
for i in $(seq 1 5); do total=$((total + i * i)); echo "$i: $total" >> log.txt; done
cat log.txt
while read -r number rest; do [ "$rest" -gt 10 ] && echo "$number $rest"; done < <(tr -d : < log.txt)
until [ -e done ]; do touch done; echo trying; done
make() { local dir=$1; shift; mkdir -p "$dir" && for f in "$@"; do echo "$dir/$f" > "$dir/$f"; done; return 3; }
make made x y; echo "answered $?"
cat made/*
case made in m*) echo matched;; *) echo other;; esac
for ((i = 0; i < 3; i++)); do echo -n "$i "; done; echo
list=(a 'b c' d); for item in "\${list[@]}"; do echo "[$item]" > "$item.txt"; done; echo *.txt
echo "\${#list[@]} \${list[1]} \${total/5/five} \${total:0:1} \${missing:-default}"
`,
  'symbolic links': `
mkdir dir; echo text > dir/file
ln -s dir/file link; ln -s dir dirlink; ln -s nowhere dangling; ln -s loop loop
cat link; cat dirlink/file
readlink link dirlink dangling
[ -L link ] && echo link; [ -f link ] && echo file; [ -d dirlink ] && echo directory; [ -e dangling ] || echo dangling
echo more >> link; cat dir/file
echo new > dirlink/new; ls dir
cat loop; echo "exit $?"
cat dangling; echo "exit $?"
ls dangling-none; echo "exit $?"
rm link; cat dir/file
rm -r dirlink; ls dir
(cd dir && pwd -P | sed 's/.*\\///')
cp -r dir copy; ls copy
`,
  'writing through a dangling link': `
mkdir target
ln -s target/made link
echo one > link
cat target/made
echo two >> link
cat link
[ -L link ] && echo still a link
`,
  'hard links': `
echo one > a
ln a b
echo two >> b
cat a
[ a -ef b ] && echo same
rm a
cat b
ln b c; ln none d; echo "exit $?"
ln b c; echo "exit $?"
mkdir dir; ln dir e; echo "exit $?"
cp b f; echo three >> f; cat b
`,
  'chmod and test': `
echo 'echo ran "$@"' > run.sh
./run.sh; echo "exit $?"
chmod +x run.sh; ./run.sh a 'b c'
[ -x run.sh ] && echo executable
for mode in 644 600 755 000 444 1777; do chmod $mode run.sh; stat -c %a run.sh; done
chmod u=rw,g=r,o= run.sh; stat -c %a run.sh
chmod a+r,g-r run.sh; stat -c %a run.sh
mkdir dir; chmod 700 dir; stat -c %a dir
chmod -R 750 dir; stat -c %a dir
chmod 644 none; echo "exit $?"
[ -s run.sh ] && echo 'not empty'; [ -d run.sh ] || echo 'no directory'; [ -f dir ] || echo 'no file'
[ run.sh -nt none ] && echo newer
`,
  rm: `
mkdir -p a/b/c d; touch a/1 a/b/2 a/b/c/3 d/4 single 'odd name'
rm a; echo "exit $?"
rm d/4 && rmdir d && echo gone
rmdir a; echo "exit $?"
rm none; echo "exit $?"
rm -f none; echo "exit $?"
rm -rf a none; ls
rm 'odd name' single; ls -A | wc -l | tr -d ' '
mkdir -p x/y; rm -rf x/*; ls x
mkdir -p p/q/r; rmdir -p p/q/r; ls
`,
  'mv over things': `
echo a > a; echo b > b; mkdir dir full empty; echo in > full/in; echo dir > dir/f
mv a b; cat b; ls
mv b dir; ls dir
mv dir/b renamed; cat renamed
mv dir empty; ls empty
mkdir dir; echo new > dir/g
mkdir empty/full; echo x > empty/full/x
mv full empty; echo "exit $?"
ls full; ls empty/full
mv renamed full/in; cat full/in
mv none somewhere; echo "exit $?"
mv full full/sub; echo "exit $?"
echo c > c; mv c none/c; echo "exit $?"
mv dir c; echo "exit $?"; cat c
mv -n c full/in; cat c full/in
mv c c; echo "exit $?"
`,
  'cp over things': `
echo a > a; chmod 640 a; mkdir -p dir/sub; echo s > dir/sub/s; ln -s sub dir/link
cp a b; stat -c %a b
echo longer > c; cp a c; cat c
cp a dir; cat dir/a
cp dir other; echo "exit $?"
cp -r dir other; find other | sort; readlink other/link
cp -r dir other; find other | sort
cp none x; echo "exit $?"
cp a none/x; echo "exit $?"
cp a a; echo "exit $?"
cp -r dir dir/sub; echo "exit $?"
cp a c dir/sub; ls dir/sub
cp -n c dir/a; cat dir/a
ln c hard; cp a hard; cat c
ln -s b soft; echo soft > d; cp d soft; cat b; [ -L soft ] && echo still a link
cp soft plain; [ -L plain ] || echo copied
`,
  appending: `
for i in 1 2 3; do echo "line $i" >> log; done
cat log
echo over > log; cat log
printf 'no newline' >> log; cat log; echo
exec 3>> log; echo three >&3; echo four >&3; exec 3>&-; cat log
: >> touched; ls -A
cat log log > twice; wc -l < twice | tr -d ' '
set -o noclobber; echo x > log; echo "exit $?"; echo y >| log; cat log
`,
  mkdir: `
mkdir a; mkdir a; echo "exit $?"
mkdir -p a/b/c; mkdir -p a/b/c; echo "exit $?"
mkdir x/y; echo "exit $?"
touch f; mkdir f; echo "exit $?"; mkdir -p f/g; echo "exit $?"
mkdir -v said
echo */
`,
  'reading as bytes': `
echo /wCAdGV4dAo= | base64 -d > bytes
wc -c < bytes | tr -d ' '
base64 bytes
base64 bytes | base64 -d > again; [ "$(md5sum < bytes)" = "$(md5sum < again)" ] && echo same
head -c 2 bytes | base64
echo 'héllo' > utf8; cat utf8; wc -c < utf8 | tr -d ' '
gzip -c utf8 | gunzip -c
sha256sum < bytes | cut -c1-16
`,
  'ls and du': `
mkdir -p d/e; printf 12345 > d/five; printf 1 > d/e/one; touch .dot
ls; ls -A; ls -a
ls -1 d; ls d/five d
ls -R d
ls -d d
ls -F d
ls none; echo "exit $?"
ls d none | cat
basename d/e/one; dirname d/e/one
`,
  'xargs, tee and command substitution': `
printf 'a\\nb\\nc d\\n' > names
xargs -d '\\n' touch < names; ls
ls | xargs -I {} echo "got {}"
echo one two three | xargs -n 2 echo
echo data | tee x y > z; cat x y z
count=$(ls | wc -l | tr -d ' '); echo "$count files"
echo "$(cat names)" | tail -n 1
printf 'b\\na\\n' | sort -o sorted; cat sorted
find . -name 'c d' -print0 | xargs -0 basename
`,
  'sub-shells and exit codes': `
(cd / && true); [ -w . ] && echo here
mkdir sub; (cd sub; touch inside); ls sub
false; echo $?; true && echo yes || echo no
(exit 7); echo $?
bash -c 'echo nested > nested; exit 4'; echo $?
cat nested
[ -z "$(cat none 2>/dev/null)" ] && echo nothing
! false; echo $?
set -o pipefail; false | true; echo $?
nosuchcommand 2>/dev/null; echo $?
`,
  'archives and compression': `
mkdir -p in/sub; echo one > in/one; echo two > in/sub/two
tar -cf a.tar in; tar -tf a.tar | sort
mkdir out; tar -xf a.tar -C out; find out | sort; cat out/in/sub/two
tar -czf a.tgz -C in one sub; tar -tzf a.tgz | sort
gzip -k in/one; gunzip -c in/one.gz; rm a.tar a.tgz in/one.gz
gzip in/sub/two; ls in/sub; gunzip in/sub/two.gz; cat in/sub/two
tar -xf none.tar 2>/dev/null; echo "failed $(($? > 0))"
`,
  'comparing, splitting and joining': `
printf 'a\nb\nc\n' > one; printf 'b\nc\nd\n' > two
diff one two > /dev/null; echo "exit $?"
diff one one; echo "exit $?"
comm one two
comm -12 one two
paste -d: one two
join <(printf '1 a\n2 b\n') <(printf '1 x\n2 y\n')
seq 1 10 > numbers; split -l 4 numbers part-; echo part-*; cat part-ab
head -n 2 numbers; tail -n +9 numbers; tac one; rev two; nl -ba one | tr -s ' '
sort -t: -k2 -n <<< 'x:10
y:9'
`,
  'a redirect into a directory that is not there': `
echo before
echo x > missing/file; echo "exit $?"
ls
`,
  'a file in the place of a directory': `
echo x > file
cat file/inside; echo "exit $?"
ls file/inside; echo "exit $?"
mkdir file/inside; echo "exit $?"
cp file file/inside; echo "exit $?"
mv file file/inside; echo "exit $?"
[ -e file/inside ] || echo nowhere
cd file; echo "exit $?"
cat .; echo "exit $?"
`,
  'names that are hard': `
touch -- -dash 'sp ace' 'quo"te' "apo'strophe" 'dollar$' 'st*r' 'new
line' __proto__ constructor 'ünïcödé' '...'
ls -A | wc -l | tr -d ' '
for f in *; do [ -e "$f" ] || echo "lost $f"; done
echo content > __proto__; cat __proto__ constructor
rm -- -dash; rm 'st*r' 'new
line'
ls -A
mkdir hasOwnProperty; echo x > hasOwnProperty/toString; cat hasOwnProperty/*
`,
  devices: `
echo gone > /dev/null; cat /dev/null
echo err >&2 2>/dev/null
cat none > /dev/null 2>&1; echo "exit $?"
grep -l x /dev/null none 2>/dev/null; echo "exit $?"
echo shown 2> /dev/null
[ -e /dev/null ] && echo there
cp /dev/null empty; wc -c < empty | tr -d ' '
ls
`,
};
