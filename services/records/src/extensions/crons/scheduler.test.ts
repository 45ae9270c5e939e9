import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import type { CronDescription, ExtensionHost } from '@recordbus/extension-host';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { beginRun, listRuns, removeOldRuns } from '../../crons/cron-runs.ts';
import type { WithTransactions } from '../call-transactions.ts';
import { createScheduler } from './scheduler.ts';

const log = createLogger('test', 'silent');

/** Returns a clock that reaches the next full minute in a second. */
function clockBeforeMinute(): () => number {
  const offsetMs = 60_000 - (Date.now() % 60_000) - 1000;
  return () => Date.now() + offsetMs;
}

describe('the scheduler', { skip: skipWithoutDatabase }, () => {
  let database: Database;
  let temporary: OpenTemporaryDatabase;
  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
  });
  after(() => temporary.remove());

  const replica = (
    extension: string,
    cron: Partial<CronDescription>,
    work: () => Promise<void>,
    clock?: () => number,
  ) => {
    const crons = [
      { name: 'c', schedule: '* * * * *', timeZone: 'UTC', missed: 'skip', timeoutMs: 60_000, ...cron } as const,
    ];
    const description = { hooks: [], signIn: [], routes: [], crons, events: [], jobs: [] };
    const host: Pick<ExtensionHost, 'extensions' | 'call'> = {
      extensions: [{ name: extension, file: '', description }],
      call: work,
    };
    const withTransactions: WithTransactions = (_extension, _scope, call) => call(async () => undefined);
    return createScheduler({ host, withTransactions, database, log, ...(clock && { clock }) });
  };
  const runsOf = async (cron: string) => (await listRuns(database.query, cron, { page: 1, perPage: 50 })).rows;
  it('runs a tick once, with any number of replicas', async () => {
    let count = 0;
    const counting = async () => {
      count += 1;
    };
    const clock = clockBeforeMinute();
    const replicas = [1, 2, 3].map(() => replica('once', {}, counting, clock));
    for (const one of replicas) one.renew();
    await eventually(async () => (await runsOf('once.c'))[0]?.status === 'success');
    for (const one of replicas) one.stop();
    const runs = await runsOf('once.c');
    assert.equal(count, 1);
    assert.deepEqual(
      runs.map(({ cause, status, error, tick }) => ({ cause, status, error, seconds: (tick ?? 1) % 60 })),
      [{ cause: 'schedule', status: 'success', error: null, seconds: 0 }],
    );
  });

  it('skips a tick while the cron is still running', async () => {
    const work = Promise.withResolvers<void>();
    const clock = clockBeforeMinute();
    const one = replica('busy', {}, () => work.promise, clock);
    assert.equal((await one.runNow('busy.c')).status, 'running');
    await assert.rejects(one.runNow('busy.c'), { status: 409 });
    one.renew();
    await eventually(async () => (await runsOf('busy.c')).some(({ status }) => status === 'skipped'));
    one.stop();
    work.resolve();
    await eventually(async () =>
      (await runsOf('busy.c')).some(({ status, cause }) => status === 'success' && cause === 'manual'),
    );
  });

  for (const [missed, causes] of [
    ['run once', ['missed']],
    ['skip', []],
  ] as const) {
    it(`handles missed ticks as the cron declares: ${missed}`, async () => {
      const name = `away-${causes.length}`;
      await database.query({
        text: `insert into system.crons (name, last_tick) values ($1, now() - interval '3 hours')`,
        values: [`${name}.c`],
      });
      let count = 0;
      const counting = async () => {
        count += 1;
      };
      const replicas = [1, 2].map(() => replica(name, { missed, schedule: '0 * * * *' }, counting));
      for (const one of replicas) one.renew();
      if (causes.length > 0) await eventually(async () => (await runsOf(`${name}.c`))[0]?.status === 'success');
      for (const one of replicas) one.stop();
      assert.equal(count, causes.length);
      assert.deepEqual(
        (await runsOf(`${name}.c`)).map(({ cause }) => cause),
        causes,
      );
    });
  }

  for (const [missed, cause] of [
    ['run once', 'missed'],
    ['skip', 'schedule'],
  ] as const) {
    it(`treats a tick that is more than a minute late as missed: ${missed}`, async () => {
      const extension = `frozen-${cause}`;
      // The process is frozen for five minutes between two looks at the clock.
      const startedAtMs = Date.now();
      let looks = 0;
      const clock = () => {
        looks += 1;
        return looks === 1 ? startedAtMs : startedAtMs + 300_000;
      };
      const one = replica(extension, { missed }, async () => {}, clock);
      one.renew();
      await eventually(async () => (await runsOf(`${extension}.c`))[0]?.status === 'success');
      one.stop();
      const lastMinuteMs = Math.floor((startedAtMs + 300_000) / 60_000) * 60_000;
      assert.deepEqual(
        (await runsOf(`${extension}.c`)).map((run) => [run.cause, run.tick]),
        [[cause, lastMinuteMs / 1000]],
      );
    });
  }

  it("records a run's error", async () => {
    const one = replica('failing', {}, () => Promise.reject(new Error('out of luck')));
    await one.runNow('failing.c');
    await eventually(async () => (await runsOf('failing.c'))[0]?.status === 'failed');
    assert.equal((await runsOf('failing.c'))[0]?.error, 'out of luck');
  });

  it("marks a dead process's run as failed, and begins the next one", async () => {
    const begin = () => beginRun(database, { cron: 'dead.c', tick: undefined, cause: 'manual' });
    const first = await begin();
    assert.equal(await begin(), undefined);
    await database.query({
      text: `update system.cron_runs set lease_until = now() - interval '1 second' where id = $1`,
      values: [first?.id],
    });
    assert.match(String((await runsOf('dead.c'))[0]?.error), /the process ended/);
    assert.equal((await begin())?.status, 'running');
    assert.deepEqual(
      (await runsOf('dead.c')).map(({ status }) => status),
      ['running', 'failed'],
    );
  });

  it("returns a cron's next run, in its time zone", () => {
    const clock = () => Date.parse('2026-07-01T00:00:00Z');
    const one = replica('zoned', { schedule: '30 3 * * *', timeZone: 'Europe/Vienna' }, async () => {}, clock);
    assert.equal(one.crons[0]?.nextRunAt?.toISOString(), '2026-07-01T01:30:00.000Z');
  });

  const changesOfClocks: readonly [what: string, schedule: string, from: string, ticks: readonly string[]][] = [
    ['a skipped time runs right after the gap', '30 2 * * *', '03-28T12:00', ['03-29T01:00', '03-30T00:30']],
    ['a repeated time runs once', '30 2 * * *', '10-24T12:00', ['10-25T00:30', '10-26T01:30']],
    ['each hour has its tick in spring', '0 * * * *', '03-28T23:30', ['03-29T00:00', '03-29T01:00', '03-29T02:00']],
    ['each hour has its tick in autumn', '0 * * * *', '10-24T23:30', ['10-25T00:00', '10-25T01:00', '10-25T02:00']],
  ];
  for (const [what, schedule, from, ticks] of changesOfClocks)
    it(`runs across a clock change: ${what}`, () => {
      let now = Date.parse(`2026-${from}:00Z`);
      const one = replica(
        'changed',
        { schedule, timeZone: 'Europe/Vienna' },
        async () => {},
        () => now,
      );
      const found = ticks.map(() => {
        now = one.crons[0]?.nextRunAt?.getTime() ?? 0;
        return new Date(now).toISOString().slice(5, 16);
      });
      assert.deepEqual(found, ticks);
    });

  it('removes runs after 30 days', async () => {
    const insert = (days: number) =>
      database.query({
        text: `insert into system.cron_runs (cron, cause, status, started_at, lease_until)
          values ('old.c', 'manual', 'success', now() - make_interval(days => $1), now())`,
        values: [days],
      });
    await insert(31);
    await insert(29);
    await removeOldRuns(database.query);
    assert.equal((await runsOf('old.c')).length, 1);
  });
});
