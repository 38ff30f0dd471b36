export const USAGE = `Usage: scratchfs-mcp [DIRECTORY] [OPTIONS]        serve it by MCP on stdin and stdout
       scratchfs-mcp approve NUMBER [DIRECTORY]    show what waits, and ask
       scratchfs-mcp deny NUMBER [DIRECTORY]
       scratchfs-mcp install HOST [DIRECTORY] [--print] [OPTIONS]
                                                  HOST: claude codex cursor vscode zed

Options:
  --attempt NAME         work in this attempt, made if there is none of the name
  --live                 write each change to the disk at once; undo takes it back there too
  --read-only            offer no tool that changes anything
  --deny GLOB            hide these paths too (may be repeated)
  --allow-secrets GLOB   show these secrets (may be repeated)
  --limit SIZE           for what the attempt adds, such as 200MB
  --approve LEVEL        ask before: accept (default), writes, all
  --allow-run            offer run, which runs commands confined by the operating system
  --network              commands may use the network
  --profile NAME         scratchfs (default); claude: Read, Edit, Write, Glob, Grep;
                         filesystem: those of the reference server, live, for several directories
  --tools A,B            offer only these tools
  --store URL            keep attempts there: memory:, redis://…, s3://…
  --http PORT            serve HTTP on 127.0.0.1 instead
  --token-file FILE      holds the token of HTTP requests; without it one is made and shown
  --allow-host NAME      a Host header to accept besides those of this machine (may be repeated)
  --version, --help
`;
