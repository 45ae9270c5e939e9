import { type Bus, eventStream, findEventStream } from '@recordbus/bus';
import type pg from 'pg';
import { broken, type Finding, fine, warning } from './finding.ts';

/** Tokens are valid for minutes at least, and refused if issued in the future. A skew below two seconds is harmless. */
const warningSkewMs = 2_000;
const brokenSkewMs = 30_000;

/** Compares the database's and the bus's clocks with this machine's. */
export async function examineClocks(client: pg.Client, bus: Bus | undefined): Promise<Finding[]> {
  const databaseFindings = await compare('the database', async () => {
    const { rows } = await client.query<{ ms: number }>(
      'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
    );
    return rows[0]?.ms;
  });
  const busFindings = bus && (await compare('the bus', () => busTimeMs(bus)));
  return [databaseFindings, busFindings].filter((finding) => finding !== undefined);
}

/** Returns the server's time, which NATS 2.10 and later add to stream information. */
async function busTimeMs(bus: Bus): Promise<number | undefined> {
  const stream = await findEventStream(bus, eventStream).catch(() => undefined);
  return stream?.serverTime?.getTime();
}

async function compare(whose: string, ask: () => Promise<number | undefined>): Promise<Finding | undefined> {
  const sentMs = Date.now();
  const theirsMs = await ask();
  if (theirsMs === undefined) return undefined;
  const receivedMs = Date.now();
  // A difference within the round trip does not count.
  const skewMs = theirsMs < sentMs ? sentMs - theirsMs : Math.max(0, theirsMs - receivedMs);
  const says = `${whose} differs by ${skewMs < 1000 ? 'less than a second' : `${(skewMs / 1000).toFixed(1)} s`}`;
  const advice = 'Synchronize all machines with NTP.';
  if (skewMs > brokenSkewMs) return broken('clock', says, advice);
  return skewMs > warningSkewMs ? warning('clock', says, advice) : fine('clock', says);
}
