import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';

/** Runs a cron as an admin, waits for the run's end, and asserts that it succeeded. Waits while another run is in progress. */
export async function runCron(admin: Client, name: string): Promise<void> {
  const path = `/api/v1/admin/crons/${name}`;
  const id = await eventually(`the cron ${name} can begin`, async () => {
    const answer = await admin.send('POST', `${path}/run`, { body: {} });
    if (answer.status === 409) return undefined;
    assert.equal(answer.status, 202, answer.text);
    return textAt(answer.json, 'data.id');
  });
  const run = await eventually(`the cron ${name} has ended`, async () => {
    const runs = listAt((await admin.get(`${path}/runs`)).json, 'data');
    const found = runs.find((one) => one.id === id);
    return found?.status === 'running' ? undefined : found;
  });
  assert.equal(at(run, 'status'), 'success', JSON.stringify(run));
}
