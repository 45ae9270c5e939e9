// Creates the durable consumer of another system. Run once with the credentials of the services:
//   NATS_URL=nats://recordbus:…@127.0.0.1:4222 npm run node -- examples/subscriber/src/add-reader.ts crm 'events.posts.*'
import { AckPolicy, DeliverPolicy, jetstreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { connectAs } from './connect-as.ts';

const [name, filter = 'events.>'] = process.argv.slice(2);
if (!name || !/^[A-Za-z0-9_-]+$/.test(name)) throw new Error('usage: add-reader.ts <name> [<subject>]');

const connection = await connectAs(process.env.NATS_URL ?? 'nats://127.0.0.1:4222');
const { consumers } = await jetstreamManager(connection, { checkAPI: false });
await consumers.add('EVENTS', {
  durable_name: name,
  filter_subject: filter,
  ack_policy: AckPolicy.Explicit,
  ack_wait: nanos(30_000),
  max_ack_pending: 1000,
  deliver_policy: DeliverPolicy.All,
});
await connection.close();
process.stdout.write(`consumer ${name} reads ${filter}\n`);
