interface ToolCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

interface Text {
  text?: string;
}

/**
 * Makes a client pass the handle that results name in every later call, and call again if that is needed, as a model
 * does. Results lose the line that names it. Clients with a connection get none.
 */
export function passingHandle<C extends { callTool: (call: never) => Promise<unknown> }>(client: C): C {
  const call = client.callTool.bind(client) as (call: ToolCall, ...more: unknown[]) => Promise<unknown>;
  let handle: string | undefined;
  const passing = async (given: ToolCall, ...more: unknown[]): Promise<unknown> => {
    for (;;) {
      const passed = handle === undefined ? {} : { client: handle };
      const result = await call({ ...given, arguments: { ...passed, ...given.arguments } }, ...more);
      const { content = [], structuredContent = {} } = result as { content?: Text[]; structuredContent?: Text };
      const [first = {}] = content;
      handle = /pass client: "(\w+)"/i.exec(first.text ?? '')?.[1] ?? handle;
      for (const part of [first, structuredContent])
        if (part.text !== undefined) part.text = part.text.replace(/\n\[Pass client: .*\]/, '');
      if (first.text?.startsWith('This call needs client') !== true) return result;
    }
  };
  client.callTool = passing as never;
  return client;
}
