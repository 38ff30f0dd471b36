import { AzuriteServer } from './azurite-server.js';

/** Starts one emulator for all tests, unless `SCRATCHFS_TEST_AZURE_CONNECTION_STRING` names an account. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  const given = process.env['SCRATCHFS_TEST_AZURE_CONNECTION_STRING'];
  const server = given === undefined ? await AzuriteServer.start('--inMemoryPersistence') : undefined;
  process.env['AZURE_STORAGE_CONNECTION_STRING'] = given ?? server?.connection;
  return server && (() => server.stop());
}
