/** Exit codes: 0 success, 1 failed, 2 wrong usage, 4 declined. */
export type ExitCode = 0 | 1 | 2 | 4;
