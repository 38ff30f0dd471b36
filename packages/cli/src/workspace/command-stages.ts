import type { RunStage } from '@scratchfs/workspace';
import type { Call } from '../table/command-spec.js';

/** Shows progress before and after a command runs. In a terminal, Ctrl-C is left to the command while that runs. */
export class CommandStages {
  readonly #call: Pick<Call, 'output' | 'interrupts'>;
  #end: () => void = () => {};

  constructor(call: Pick<Call, 'output' | 'interrupts'>) {
    this.#call = call;
  }

  enter(stage: RunStage): void {
    const { output, interrupts } = this.#call;
    this.end();
    if (stage === 'copying') this.#end = output.startProgress('Copying the files').stop;
    else if (stage === 'collecting') this.#end = output.startProgress('Bringing the changes in').stop;
    else if (output.isInteractive) this.#end = interrupts.hold();
  }

  end(): void {
    this.#end();
    this.#end = () => {};
  }
}
