import { beforeAll } from 'vitest';
import bundle from '../cli/bundle.js';
import { fileCommandsSuite } from '../cli/file-commands.js';
import { freshPlace, hasBucket, urlOf } from './servers/test-bucket.js';

// The tests of the command line have bundled the program already if they run in the same call of vitest.
beforeAll(bundle);

fileCommandsSuite('S3', () => urlOf(freshPlace()), hasBucket ? undefined : 'there is no S3 server');
