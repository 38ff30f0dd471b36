import { compileGlob, type Glob } from '@scratchfs/core/internal';
import { list, type Reader, text } from './plain-data.js';

/**
 * Patterns for `deny` that hide the usual places of passwords, tokens and private keys: `.env` files except examples,
 * key files, and the credentials of SSH, GnuPG, git, package registries and clouds. They guarantee nothing: a secret
 * may be in a file of any name.
 */
export const SECRET_FILES: readonly string[] = Object.freeze([
  '.env',
  '.env.*',
  '!.env.{example,sample,template,dist,defaults}',
  '.envrc',
  '*.{pem,key,p8,p12,pfx,jks,keystore,kdbx,ppk}',
  'id_{rsa,dsa,ecdsa,ecdsa_sk,ed25519,ed25519_sk}',
  '{.ssh,.gnupg,.aws,.azure,.gcloud,.kube}',
  '**/.docker/config.json',
  '{.netrc,_netrc,.npmrc,.pypirc,.pgpass,.my.cnf,.htpasswd,.git-credentials,.vault-token}',
  '*.{tfstate,tfstate.backup}',
]);

/** A parsed pattern of a list. */
export interface Rule {
  readonly glob: Glob;
  /** True for a pattern that begins with `!`. */
  readonly isException: boolean;
  /** True if the pattern has no slash, so that it is compared with the last name of a path. */
  readonly isName: boolean;
}

/**
 * Parses a list of patterns such as `deny` takes, in their order.
 * @param field Name of the list, for errors
 * @throws TypeError, RangeError for a list that {@link patterns} refuses
 */
export function denyRules(given: unknown, field: string): readonly Rule[] {
  return patterns(given, field).map(ruleOf);
}

const pattern: Reader<string> = (value, field) => {
  const given = text(value, field);
  try {
    ruleOf(given);
  } catch (cause) {
    const Kind = cause instanceof TypeError ? TypeError : RangeError;
    throw new Kind(`${field} is no pattern: ${(cause as Error).message}`, { cause });
  }
  return given;
};

/**
 * Reads a list of patterns. A list of exceptions only is refused: it would hide nothing.
 * @throws TypeError, RangeError that name the field
 */
export const patterns: Reader<readonly string[]> = (value, field) => {
  const given = list(pattern)(value, field);
  if (given.length > 0 && given.every((each) => each.startsWith('!'))) {
    throw new RangeError(
      `${field} has only exceptions, so that it hides nothing: put the patterns that they are exceptions to before them`,
    );
  }
  return given;
};

/** Parses a pattern. @throws TypeError, RangeError */
export function ruleOf(given: string): Rule {
  if (given.startsWith('!(')) {
    throw new RangeError(
      "it must not begin with '!(': !(…) is not supported; deny '*' and make exceptions with '!name', and write '![(]' for a name that begins with '('",
    );
  }
  const isException = given.startsWith('!');
  // Upper and lower case are the same, because on some filesystems of hosts they are.
  const glob = given
    .slice(isException ? 1 : 0)
    .toLowerCase()
    .replace(/[/\\]+$/, '');
  if (glob.split(/[/\\]/).includes('..')) throw new RangeError("it must not contain '..'");
  return { glob: compileGlob(glob, { dot: true }), isException, isName: !/[/\\]/.test(glob) };
}
