"""`python3 tools/demo.py`: set up what the demo takes, then run `nlm-cdp demo` with the arguments given here."""

import os
import subprocess
import sys

import environment


def main() -> int:
    browser = environment.prepare_browser()
    python = environment.prepare_python()
    command = [str(python), "-m", "nlm_cdp.cli", "demo", *sys.argv[1:]]
    environ = environment.child_environment(browser)
    if sys.platform != "win32":
        os.execve(python, command, environ)  # noqa: S606 -- signals then reach the demo itself
    process = subprocess.Popen(command, env=environ)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # the demo has got it, too
            continue


if __name__ == "__main__":
    sys.exit(main())
