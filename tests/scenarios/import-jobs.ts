import assert from 'node:assert/strict';
import type { Answer, Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, listAt, objectAt, textAt } from '../harness/json.ts';

const types = { csv: 'text/csv', ndjson: 'application/x-ndjson', json: 'application/json' } as const;

/** An import's parameters. */
type Parameters = Readonly<Record<string, string>> & { readonly format: keyof typeof types };

/** Sends an import. */
export function sendImport(
  client: Client,
  collection: string,
  { format, ...parameters }: Parameters,
  rawBody: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const query = new URLSearchParams({ format, ...parameters });
  return client.send('POST', `/api/v1/records/${collection}/import?${query}`, {
    rawBody,
    headers: { 'Content-Type': types[format], ...headers },
  });
}

/** JSON lines. */
export const linesOf = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** Reads a job. */
export const readJob = async (client: Client, id: string): Promise<JsonObject> =>
  objectAt((await client.get(`/api/v1/jobs/${id}`)).json, 'data');

/** Waits until a job has ended, and returns it. */
export async function ended(client: Client, id: string, timeoutMs = 180_000): Promise<JsonObject> {
  return eventually(
    'the job has ended',
    async () => {
      const job = await readJob(client, id);
      return typeof job.finished === 'number' ? job : undefined;
    },
    { timeoutMs, intervalMs: 50 },
  );
}

/** Imports rows and waits for the end. Returns the job. */
export async function imported(
  client: Client,
  collection: string,
  parameters: Parameters,
  body: string | Uint8Array,
): Promise<JsonObject> {
  const answer = await sendImport(client, collection, parameters, body);
  assert.equal(answer.status, 202, answer.text);
  return ended(client, textAt(at(answer.json, 'data'), 'id'));
}

/** A job's counts, without those that are 0. */
export const countsOf = (job: JsonObject): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(objectAt(job, 'rows')).filter(([, count]) => count !== 0));

/** Downloads a job's refused rows. */
export const refusedRows = async (client: Client, job: JsonObject): Promise<string> =>
  (await client.get(`/api/v1/jobs/${textAt(job, 'id')}/refused`)).text;

/** All of a collection's records in id order, with these members. */
export async function recordsOf(client: Client, collection: string, fields: string): Promise<unknown[]> {
  const answer = await client.get(`/api/v1/${collection}?sort=id&perPage=1000&fields=${fields}`);
  assert.equal(answer.status, 200, answer.text);
  return listAt(answer.json, 'data').map((record) =>
    Object.fromEntries(fields.split(',').map((name) => [name, record[name]])),
  );
}

/** The operations in a record's history, oldest first. */
export async function operationsOn(client: Client, collection: string, id: string): Promise<unknown[]> {
  const answer = await client.get(`/api/v1/${collection}/${id}/history`);
  return listAt(answer.json, 'data.data')
    .map(({ op }) => op)
    .reverse();
}
