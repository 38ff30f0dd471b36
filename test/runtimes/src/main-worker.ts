import { runSuites } from './main.js';

export default {
  async fetch(): Promise<Response> {
    return Response.json(await runSuites());
  },
};
