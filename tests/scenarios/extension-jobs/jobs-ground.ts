import assert from 'node:assert/strict';
import type { Client } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { type JsonObject, listAt, numberAt, textAt } from '../../harness/json.ts';

export const jobsPath = '/api/v1/admin/extension-jobs';

/** Creates the collections that the extension `work` writes to. */
export async function createCollections(admin: Client): Promise<void> {
  const name = { name: 'name', type: 'text' };
  const attempt = { name: 'attempt', type: 'number' };
  await admin.post('/api/v1/collections', { name: 'job_effects', type: 'base', fields: [name, attempt] });
  await admin.post('/api/v1/collections', {
    name: 'job_orders',
    type: 'base',
    fields: [{ ...name, options: { unique: true } }],
  });
}

/** Asks for a job through a route of the extension. Returns its id. */
export const ask = async (client: Client, job: string, input: unknown, options: object = {}): Promise<string> =>
  textAt({ data: await client.post('/api/x/jobs', { job, input, options }, 200) }, 'data.id');

/** Opens a gate, for which jobs wait. */
export const open = (client: Client, gate: string) =>
  client.send('POST', '/api/x/jobs/set', { body: { key: gate, value: true } });

/** The names of the effects that jobs have left, oldest first. */
export async function effects(client: Client, filter = ''): Promise<string[]> {
  const query = new URLSearchParams({
    perPage: '500',
    sort: 'created,id',
    skipTotal: 'true',
    ...(filter && { filter }),
  });
  const { json } = await client.get(`/api/v1/job_effects?${query}`);
  return listAt(json, 'data').map(({ name }) => String(name));
}

export const readJob = async (admin: Client, id: string): Promise<JsonObject> => {
  const { status, json, text } = await admin.get(`${jobsPath}/${id}`);
  assert.equal(status, 200, text);
  return (json as { data: JsonObject }).data;
};

/** Waits until a job has a state. Returns the job. */
export const jobIn = (admin: Client, id: string, state: string): Promise<JsonObject> =>
  eventually(`the job is ${state}`, async () => {
    const job = await readJob(admin, id);
    if (job.state !== state) throw new Error(JSON.stringify(job));
    return job;
  });

/** Counts the jobs that match a query. */
export const countJobs = async (admin: Client, query: string): Promise<number> =>
  numberAt((await admin.get(`${jobsPath}?perPage=1&${query}`)).json, 'totalItems');
