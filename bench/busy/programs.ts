/** What works for an hour and asks nothing: lanes of real tools, each in a terminal of its own. All of them end by themselves. */

/** How long each lane is recorded; one that is through begins again. */
export const LANE_SECONDS = 720;

const NPM = "npm install --no-audit --no-fund --cache $PWD/npm-cache";
const APT = "apt-get -o Dir::State::lists=$PWD/lists -o Dir::Cache=$PWD/cache -o APT::Sandbox::User=root";

export const LANES: Readonly<Record<string, readonly string[]>> = {
  node: [
    `mkdir web && cd web && npm init -y && ${NPM} --foreground-scripts vite webpack webpack-cli eslint jest mocha`,
    "cd web && npm ls --all",
    'cd web && mkdir -p src && for i in $(seq 400); do echo "export const f$i = () => $i;" > src/f$i.js; echo "export * from \'./f$i.js\';" >> src/index.js; done; npx --no webpack --mode production --entry ./src/index.js --progress --stats verbose',
    "cd web && npx --no vite build --ssr src/index.js --debug",
    'cd web && echo \'export default [{rules: {semi: [2, "never"], "no-undef": 2}}]\' > eslint.config.mjs; npx --no eslint src || true',
    "cd web && mkdir -p t && for i in $(seq 60); do echo \"test('adds $i? [y/N]', () => expect($i + 1).toBe($i % 7 ? $i + 1 : 0));\" > t/s$i.test.js; done; npx --no jest t --verbose || true",
    "cd web && for i in $(seq 80); do echo \"describe('p$i', () => it('waits', (done) => setTimeout(done, $((i * 9)))));\" > t/m$i.cjs; done; npx --no mocha 't/*.cjs' --reporter spec && npx --no mocha 't/*.cjs' --reporter progress",
    `mkdir native && cd native && npm init -y && ${NPM} --foreground-scripts --build-from-source better-sqlite3`,
    "cd web && npm outdated; npm explain ajv; npm help config | cat",
    `rm -rf web/node_modules web/npm-cache && cd web && ${NPM} --loglevel http`,
  ],
  python: [
    "python3 -m venv venv && venv/bin/pip install --no-cache-dir numpy pandas sympy pytest tqdm rich",
    "venv/bin/python -m pytest -v --pyargs numpy.lib numpy.random -x -q --maxfail 500 2>&1 | head -c 700000",
    "venv/bin/python -c \"import time, tqdm; [time.sleep(.02) for _ in tqdm.tqdm(range(3000), desc='epoch')]\"",
    "venv/bin/python -c \"import time; from rich.progress import track; [time.sleep(.03) for _ in track(range(1500), description='Working?')]\"",
    "python3 -m test -v test_json test_re test_subprocess test_getpass test_cmd 2>&1 | tail -c 500000",
    "venv/bin/pip download --no-cache-dir --no-binary :none: -d dl scipy matplotlib && venv/bin/pip list && venv/bin/pip check",
    "venv/bin/python -m compileall venv/lib/python3.11/site-packages/sympy | head -c 200000",
    "venv/bin/python -m pytest -v --pyargs sympy.core --maxfail 5 2>&1 | head -c 500000",
    "venv/bin/python -c \"import logging, time, random; logging.basicConfig(level=0); [(logging.warning('retry %d: continue? no', i), time.sleep(random.expovariate(1.2))) for i in range(120)]\"",
  ],
  system: [
    `mkdir -p lists/partial cache/archives/partial; ${APT} update && ${APT} install -s build-essential texlive-latex-base gnome-core`,
    `${APT} -y --download-only --reinstall install emacs-nox postgresql-15 clang-14`,
    'for d in cache/archives/*.deb; do echo "Unpacking $d ..."; dpkg-deb -X $d root | head -n 300; done | head -c 900000',
    "dd if=/dev/zero of=big bs=1M count=2500 status=progress oflag=dsync; xz -v -k -0 -T1 big; zstd -v -19 big -o big.zst; rm big*",
    "vmstat 1 90",
    "openssl speed -seconds 1 sha256 aes-128-cbc rsa2048",
    "openssl genrsa -verbose 8192; openssl dhparam -verbose 1024",
    "git init repo && cd repo && cp -r /usr/share/doc . 2>/dev/null; git add -A && git commit -qm begin && git gc --aggressive --prune=now && git fsck --full --progress && git clone --progress --no-local . ../copy",
    "cd repo && git log -p --stat | head -c 600000",
    "for page in bash ssh sudo apt-get git-rebase gpg; do MANPAGER=cat man $page; done | head -c 900000",
    "for tool in rm cp ssh gpg git tar useradd passwd fdisk apt-get openssl curl wget; do $tool --help 2>&1 | head -n 80; sleep 1; done",
    "find /usr/share /usr/lib -newer /etc/hostname -ls 2>/dev/null | head -n 5000; ls -lR /etc/ssl | head -n 3000",
  ],
  builds: [
    `mkdir src && cd src && npm init -y >/dev/null && ${NPM} --ignore-scripts sqlite3 re2 better-sqlite3 node-pty @mongodb-js/zstd && find . -name '*.c' | wc -l`,
    "cd src && mkdir -p b && for f in $(find . -name '*.cc' -o -name '*.c' | grep -v '/b/' | head -n 160); do printf 'OBJS += b/%s.o\\nb/%s.o: %s\\n\\t$(CXX) -Wall -Wextra -Inode_modules/re2/vendor/re2 -Inode_modules/re2/vendor/abseil-cpp -O1 -c $< -o $@\\n' $(echo $f | tr / _) $(echo $f | tr / _) $f; done > Makefile && sed -i '1i all: link' Makefile && echo 'link: $(OBJS)' >> Makefile && make -k -j2 CXX=g++ link; true",
    "mkdir cm && cd cm && printf 'cmake_minimum_required(VERSION 3.10)\\nproject(demo C CXX)\\n' > CMakeLists.txt; for i in $(seq 60); do printf '#include <regex>\\n#include <map>\\nint f%d(){ int unused; std::regex r(\"a\"); return %d; }\\n' $i $i > f$i.cpp; done; echo 'int main(){}' > main.cpp; echo 'file(GLOB S *.cpp)\\nadd_executable(demo ${S})' | sed 's/\\\\n/\\n/' >> CMakeLists.txt; cmake -B b -G 'Unix Makefiles' -DCMAKE_CXX_FLAGS=-Wall && make -C b && cmake -B n -G Ninja -DCMAKE_CXX_FLAGS=-Wall && ninja -C n",
    'mkdir rs && cd rs && cargo init --name demo --vcs none && for i in $(seq 80); do echo "pub fn f$i(x: u64) -> u64 { let y = x; $i }" >> src/main.rs; echo "#[test] fn t$i() { assert_eq!(f$i(1), $i); }" >> src/main.rs; done; cargo build -v; cargo test --offline; cargo build --release --offline',
    'mkdir jv && cd jv && for i in $(seq 150); do echo "public class C$i { java.util.List l = new java.util.ArrayList(); void f() { l.add($i); } }" > C$i.java; done; javac -Xlint:all -verbose *.java 2>&1 | head -c 500000',
  ],
  /** This project's own, in a copy of the checkout. */
  checks: [
    "cp -r $PROJECT project && cd project && node_modules/.bin/vitest run --reporter=verbose src/domain src/lib",
    "cd project && node_modules/.bin/tsc -p . --noEmit --listFiles | head -n 800; node_modules/.bin/oxlint src; git log --format='%h %s' --stat | head -n 2000",
    "cd project && node_modules/.bin/vitest run --reporter=tree src/store src/client",
  ],
  network: [
    "mkdir www && head -c 60000000 /dev/urandom > www/image.iso && cp -r /usr/share/doc/g* www/ 2>/dev/null; (setsid python3 -m http.server 8791 -d www --bind 127.0.0.1 >/dev/null 2>&1 </dev/null & echo $! > server.pid); sleep 2; wget --progress=bar:force --limit-rate=700k -O a.iso http://127.0.0.1:8791/image.iso",
    "curl --limit-rate 900K -o b.iso http://127.0.0.1:8791/image.iso",
    "wget --limit-rate=900k -O c.iso http://127.0.0.1:8791/image.iso",
    "wget -r -np -l 4 -P mirror http://127.0.0.1:8791/ 2>&1 | head -c 700000",
    "kill $(cat server.pid); python3 -m http.server 8792 -d www --bind 127.0.0.1 & s=$!; sleep 1; for i in $(seq 150); do curl -s http://127.0.0.1:8792/missing$i -o /dev/null; sleep 0.$((RANDOM % 9 + 1)); done; kill $s",
    'for i in $(seq 40); do echo "waiting for database... ($i)"; sleep 1.7; done',
    "for i in $(seq 60); do printf 'Waiting for the server to come up'; for d in 1 2 3; do sleep 0.8; printf .; done; echo; done",
    "for i in $(seq 100); do printf '\\r[%-50s] %d%%' $(head -c $((i / 2 + 1)) /dev/zero | tr '\\0' '#') $i; sleep 0.9; done; echo",
  ],
};
