import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';

/** The client of a call, as it describes itself. */
export interface Client {
  /**
   * Its name, such as `claude-code`: at most 64 characters of `\w .@/-`, or `mcp` if that leaves nothing. It is not
   * verified.
   */
  readonly name: string;
  /** True if it can show a form to a person. */
  readonly hasForms: boolean;
}

/**
 * Returns the client of a request: as the request describes it or, in revisions with a handshake, as the handshake did.
 */
export function clientOf({ server }: McpServer, { mcpReq: { envelope } }: ServerContext): Client {
  const sent = envelope as Readonly<Record<string, unknown>> | undefined;
  const info = (sent?.[CLIENT_INFO_META_KEY] as Implementation | undefined) ?? server.getClientVersion();
  const abilities = sent?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const { elicitation } = abilities ?? server.getClientCapabilities() ?? {};
  // A client that lists no mode has forms: the first revision with elicitation knew no other mode.
  const hasForms = elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
  return { name: nameOf(info?.name), hasForms };
}

function nameOf(name: unknown): string {
  const clean = typeof name === 'string' ? name.replace(/[^\w .@/-]/g, '').slice(0, 64) : '';
  return clean === '' ? 'mcp' : clean;
}
