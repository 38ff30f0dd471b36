const CR = 13;
const LF = 10;

/** Cuts a stream of Redis's protocol into its frames: commands in one direction, replies in the other. */
export class FrameSplitter {
  #rest: Buffer = Buffer.alloc(0);

  /** Returns the frames that this chunk completes. */
  push(chunk: Buffer): Buffer[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    for (let end = frameEnd(this.#rest); end > 0; end = frameEnd(this.#rest)) {
      frames.push(this.#rest.subarray(0, end));
      this.#rest = this.#rest.subarray(end);
    }
    return frames;
  }

  /** Bytes of a frame that is not complete yet. */
  get rest(): Buffer {
    return this.#rest;
  }
}

/** Returns the end of the first frame; 0 if it is not complete. */
function frameEnd(buffer: Buffer): number {
  let at = 0;
  for (let open = 1; open > 0; open--) {
    const lineEnd = endOfLine(buffer, at);
    if (lineEnd === 0) return 0;
    const type = String.fromCharCode(buffer[at] as number);
    const count = Number(buffer.toString('latin1', at + 1, lineEnd - 2));
    at = lineEnd;
    if ('$=!'.includes(type) && count >= 0) at += count + 2;
    else if ('*~>'.includes(type) && count > 0) open += count;
    else if ('%|'.includes(type) && count > 0) open += 2 * count + (type === '|' ? 1 : 0);
    if (at > buffer.length) return 0;
  }
  return at;
}

function endOfLine(buffer: Buffer, from: number): number {
  const at = buffer.indexOf(LF, from);
  return at > from && buffer[at - 1] === CR ? at + 1 : 0;
}

/** Returns the first eight words of a command as text, each cut to 200 bytes. */
export function wordsOf(command: Buffer): string[] {
  const words: string[] = [];
  let at = endOfLine(command, 0);
  while (at > 0 && at < command.length && words.length < 8) {
    const lineEnd = endOfLine(command, at);
    const length = Number(command.toString('latin1', at + 1, lineEnd - 2));
    words.push(command.toString('utf8', lineEnd, lineEnd + Math.min(length, 200)));
    at = lineEnd + length + 2;
  }
  return words;
}
