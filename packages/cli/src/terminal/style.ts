import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/** Colours by meaning. */
export class Style {
  constructor(readonly isColored: boolean) {}

  #apply(format: Format, text: string): string {
    return this.isColored && text !== '' ? styleText(format, text, { validateStream: false }) : text;
  }
  heading(text: string): string {
    return this.#apply('bold', text);
  }
  dim(text: string): string {
    return this.#apply('dim', text);
  }
  added(text: string): string {
    return this.#apply('green', text);
  }
  removed(text: string): string {
    return this.#apply('red', text);
  }
  changed(text: string): string {
    return this.#apply('yellow', text);
  }
  moved(text: string): string {
    return this.#apply('cyan', text);
  }
  /** Colours an identifier, such as the name of an attempt or the number of an operation. */
  name(text: string): string {
    return this.#apply('cyan', text);
  }
  directory(text: string): string {
    return this.#apply(['bold', 'blue'], text);
  }
  link(text: string): string {
    return this.#apply('magenta', text);
  }
  error(text: string): string {
    return this.#apply(['bold', 'red'], text);
  }
  warning(text: string): string {
    return this.#apply('yellow', text);
  }
  match(text: string): string {
    return this.#apply(['bold', 'red'], text);
  }
}

/**
 * Reports whether a stream gets colours. It gets none if NO_COLOR is set and not empty. Otherwise FORCE_COLOR decides.
 * If that is not set either, a terminal gets them unless TERM is `dumb`.
 */
export function isColored(
  stream: { readonly isTTY?: boolean | undefined },
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = environment;
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return stream.isTTY === true && TERM !== 'dumb';
}
