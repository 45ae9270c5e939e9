import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, textAt } from '../harness/json.ts';
import type { Receiver } from '../harness/servers/receiver.ts';
import { hostile } from './hostile-text.ts';

/** The ids that the operations screens show: an event's, a request's and a job's. */
export interface OperationsGround {
  readonly event: string;
  readonly request: string;
  readonly job: string;
  readonly record: string;
}

/**
 * Fills a stack with data for the operations screens: events with hostile texts whose deliveries succeed, fail and
 * wait; a request with its events; a job with refused rows; audit log rows.
 */
export async function fillOperations(admin: Client, receiver: Receiver): Promise<OperationsGround> {
  await admin.patch('/api/v1/admin/settings', { 'hooks.http.allow': '127.0.0.1' });
  const fields = [
    { name: 'title', type: 'text' },
    { name: 'stock', type: 'number' },
  ];
  const open = { list_rule: null, view_rule: null, create_rule: null, update_rule: null, delete_rule: null };
  await admin.post('/api/v1/collections', { name: 'wares', fields, history_enabled: true, ...open });
  receiver.behave((path) => (path.endsWith('refuses') ? { status: 500, body: hostile.repeat(5) } : { status: 200 }));
  const hook = (name: string, more: object) =>
    admin.post('/api/v1/admin/webhooks', { name, events: ['wares.*'], retry_delay_ms: 100, ...more });
  await hook(hostile.slice(0, 60), { url: receiver.url });
  await hook('search', { url: `${receiver.url}/refuses`, retry_max: 2 });
  await hook('warehouse', { url: `${receiver.url}/refuses`, retry_max: 5, retry_delay_ms: 3_600_000 });
  const { id: record } = await admin.create('wares', { title: hostile, stock: 3 });
  const headers = { 'X-Request-Id': 'request-of-wares', 'User-Agent': hostile.replaceAll(/[^\x20-\x7e]/g, '') };
  await admin.send('PATCH', `/api/v1/wares/${record}`, { body: { title: `${hostile} again`, stock: 4 }, headers });
  const body = `title,stock\n${hostile.replaceAll('"', '""').replace(/^/, '"')}",many\nfine,1\n`;
  const sent = await admin.send('POST', '/api/v1/records/wares/import', {
    rawBody: body,
    headers: { 'Content-Type': 'text/csv' },
  });
  const job = textAt(sent.json, 'data.id');
  await eventually(
    'the job is done',
    async () => textAt((await admin.get(`/api/v1/jobs/${job}`)).json, 'data.state') === 'done',
  );
  const of = `/api/v1/admin/events?record=${record}&event=wares.update`;
  const event = await eventually('an event has its attempts', async () => {
    const [found] = listAt((await admin.get(`${of}&status=dead`)).json, 'data');
    if (!found) throw new Error('no dead delivery yet');
    return textAt(found, 'id');
  });
  await eventually(
    'the request is logged',
    async () => listAt((await admin.get('/api/v1/admin/logs?request_id=request-of-wares')).json, 'data').length > 0,
  );
  return { event, request: 'request-of-wares', job, record };
}

/** Starts an import that takes longer than a test. Returns its job's id. */
export async function startLongImport(admin: Client): Promise<string> {
  await admin.post('/api/v1/collections', { name: 'parts', fields: [{ name: 'title', type: 'text' }] });
  const rows = Array.from({ length: 300_000 }, (_, index) => `part ${index}`);
  const sent = await admin.send('POST', '/api/v1/records/parts/import', {
    rawBody: ['title', ...rows].join('\n'),
    headers: { 'Content-Type': 'text/csv' },
  });
  return textAt(sent.json, 'data.id');
}

/** The operations screens: their addresses, and a text that each shows when it is complete. */
export const operationsScreens = ({ event, request, job, record }: OperationsGround) => [
  { name: 'events', path: '/_/events', shows: 'wares' },
  { name: 'event', path: `/_/events/${event}`, shows: 'Changes' },
  { name: 'record-events', path: `/_/collections/wares/records/${record}/events`, shows: 'update' },
  { name: 'health', path: '/_/health', shows: 'all in one' },
  { name: 'requests', path: '/_/requests?path=/api/v1/wares&principal_type=admin', shows: '/api/v1/wares' },
  { name: 'request', path: `/_/requests/${request}`, shows: 'Answered' },
  { name: 'audit', path: '/_/audit', shows: 'webhooks.create' },
  { name: 'jobs', path: '/_/jobs', shows: 'Import into wares' },
  { name: 'job', path: `/_/jobs/${job}`, shows: 'refused row' },
  { name: 'crons', path: '/_/crons', shows: 'No crons of your own yet' },
  { name: 'mails', path: '/_/mails', shows: 'No mails yet' },
  { name: 'backups', path: '/_/backups', shows: 'No backups yet' },
  { name: 'import', path: '/_/collections/wares/records?import=1', shows: 'Import into wares' },
  { name: 'export', path: '/_/collections/wares/records?export=1', shows: 'Export wares' },
];
