import fc from 'fast-check';

/** The same generated cases in every run; FC_SEED=… changes them. A failure prints its seed and path. */
fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20_261_121) });
