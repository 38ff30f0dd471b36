/** The SDK, loaded on demand: naming the package must not force every user to install it. */
export type Sdk = typeof import('@aws-sdk/client-dynamodb');

let loaded: Promise<Sdk> | undefined;

export function loadSdk(): Promise<Sdk> {
  loaded ??= import('@aws-sdk/client-dynamodb');
  return loaded;
}
