import { type Bus, eventStream } from '@recordbus/bus';
import type pg from 'pg';
import { broken, type Finding, fine, warning } from './finding.ts';

/** Tokens are good for minutes at least and refused from the future; a second or two are nobody's trouble. */
const uneasyMs = 2_000;
const wrongMs = 30_000;

/** How far the clocks of the database and the bus are from this machine's. */
export async function examineClocks(client: pg.Client, bus: Bus | undefined): Promise<Finding[]> {
  const ofDatabase = await compare('the database', async () => {
    const { rows } = await client.query<{ ms: number }>(
      'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
    );
    return rows[0]?.ms;
  });
  const ofBus = bus && (await compare('the bus', () => busTimeMs(bus)));
  return [ofDatabase, ofBus].filter((finding) => finding !== undefined);
}

/** Servers since 2.10 put their time into what they say of a stream. */
async function busTimeMs(bus: Bus): Promise<number | undefined> {
  const { streams } = await bus.jetstreamManager();
  const info = await streams.info(eventStream.name).catch(() => undefined);
  const stated = info && 'ts' in info ? Date.parse(String(info.ts)) : Number.NaN;
  return Number.isNaN(stated) ? undefined : stated;
}

async function compare(whose: string, ask: () => Promise<number | undefined>): Promise<Finding | undefined> {
  const sentMs = Date.now();
  const theirsMs = await ask();
  if (theirsMs === undefined) return undefined;
  const receivedMs = Date.now();
  // Anything the answer's way can explain is no difference.
  const skewMs = theirsMs < sentMs ? sentMs - theirsMs : Math.max(0, theirsMs - receivedMs);
  const says = `${whose} differs by ${skewMs < 1000 ? 'less than a second' : `${(skewMs / 1000).toFixed(1)} s`}`;
  const advice = 'Let NTP set the clocks of all machines.';
  if (skewMs > wrongMs) return broken('clock', says, advice);
  return skewMs > uneasyMs ? warning('clock', says, advice) : fine('clock', says);
}
