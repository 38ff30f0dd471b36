/** The SDK is loaded when it is needed: naming the package must not make everybody install it. */
export type Sdk = typeof import('@aws-sdk/client-s3');

let loaded: Promise<Sdk> | undefined;

export function loadSdk(): Promise<Sdk> {
  loaded ??= import('@aws-sdk/client-s3');
  return loaded;
}
