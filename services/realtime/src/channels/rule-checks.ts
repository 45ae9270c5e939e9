import type { Bus } from '@recordbus/bus';
import { AppError } from '@recordbus/errors';
import { inSlices } from '@recordbus/limits/time-slice';
import { type BackgroundTask, every, skipped } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { Principal } from '@recordbus/request/context';
import { isAdmin } from '@recordbus/request/key-rights';
import type { Settings } from '@recordbus/settings';
import { messages } from '../messages/messages.ts';
import { type ChannelRules, readsRecords } from './channel-rules.ts';
import type { Admission, ChannelSubscription } from './channel-subscription.ts';

/** Checks again whether subscriptions to channels may continue (realtime §7.6). */
export interface RuleChecks {
  /** Returns the admission by a rule that was just checked. */
  admissionBy(rule: string | null, principal: Principal): Admission;
  /** Checks a subscription that has begun if its channel's rule has changed since it was admitted. */
  noteBegun(subscription: ChannelSubscription): void;
  /** Checks subscriptions at once, since their caller has changed. */
  checkSoon(subscriptions: Iterable<ChannelSubscription>): void;
  /** Checks those subscriptions at once whose rule reads records. */
  checkRecordsSoon(subscriptions: Iterable<ChannelSubscription>): void;
  start(): void;
  stop(): Promise<void>;
}

interface RuleChecksDeps {
  readonly rules: ChannelRules;
  readonly settings: Pick<Settings, 'onChange'>;
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly log: Logger;
  readonly subscriptions: () => Iterable<ChannelSubscription>;
}

const intervalMs = 1000;
/** When a rule that reads records is checked again. A random part spreads the checks. */
const againMs = { least: 20_000, spread: 8000 } as const;
/** Rules that are evaluated at once. */
const checkedAtOnce = 4;

export function createRuleChecks({ rules, settings, bus, log, subscriptions }: RuleChecksDeps): RuleChecks {
  let hasNewRules = false;
  let endListening = () => {};

  function admissionBy(rule: string | null, principal: Principal): Admission {
    const isExempt = isAdmin(principal) || !readsRecords(rule);
    const checkAgainAtMs = performance.now() + againMs.least + Math.random() * againMs.spread;
    return { rule, checkAgainAtMs: isExempt ? Number.POSITIVE_INFINITY : checkAgainAtMs };
  }

  const checkNow = (subscription: ChannelSubscription) => {
    subscription.admission = { ...subscription.admission, checkAgainAtMs: 0 };
  };

  function checkRecordsSoon(some: Iterable<ChannelSubscription>): void {
    let isNeeded = false;
    for (const subscription of some) {
      if (!Number.isFinite(subscription.admission.checkAgainAtMs)) continue;
      checkNow(subscription);
      isNeeded = true;
    }
    if (isNeeded) task.wake();
  }

  /** Marks the subscriptions whose channel has a new rule. */
  async function followRules(): Promise<void> {
    const current = new Map<string, string | null | undefined>();
    for await (const subscription of inSlices([...subscriptions()])) {
      const { channel, admission } = subscription;
      if (!current.has(channel)) current.set(channel, findRule(channel));
      if (current.get(channel) !== admission.rule) checkNow(subscription);
    }
  }

  function findRule(channel: string): string | null | undefined {
    try {
      return rules.find(channel, 'subscribe');
    } catch {
      return undefined;
    }
  }

  /** Checks one caller's subscriptions to one channel. */
  async function check(same: readonly ChannelSubscription[]): Promise<void> {
    const [
      {
        channel,
        connection: { principal },
      },
    ] = same as [ChannelSubscription];
    try {
      const admission = admissionBy(await rules.admit(channel, 'subscribe', principal), principal);
      for (const subscription of same)
        if (subscription.connection.principal === principal) subscription.admission = admission;
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      for (const { connection, id, isLeft } of same) {
        if (isLeft || connection.principal !== principal) continue;
        connection.unfollow(id);
        connection.send(messages.error(error, id));
      }
    }
  }

  const task: BackgroundTask = every({
    name: 'check channel rules',
    log,
    intervalMs,
    firstAfterMs: intervalMs,
    async run(ending) {
      if (hasNewRules) {
        hasNewRules = false;
        await followRules();
      }
      const nowMs = performance.now();
      const due = [...subscriptions()].filter(({ admission }) => admission.checkAgainAtMs <= nowMs);
      if (due.length === 0) return skipped;
      const callers = Map.groupBy(due, ({ channel, connection }) => `${callerKey(connection.principal)}\0${channel}`);
      const waiting = callers.values();
      const work = async () => {
        for (const same of waiting) {
          if (ending.aborted) return;
          await check(same);
        }
      };
      await Promise.all(Array.from({ length: checkedAtOnce }, work));
      return undefined;
    },
  });

  return {
    admissionBy,
    noteBegun(subscription) {
      if (findRule(subscription.channel) === subscription.admission.rule) return;
      checkNow(subscription);
      task.wake();
    },
    checkRecordsSoon,
    checkSoon(changed) {
      for (const subscription of changed) checkNow(subscription);
      task.wake();
    },
    start() {
      task.start();
      const ends = [
        settings.onChange((changed) => {
          if (!changed.has('realtime.channels')) return;
          hasNewRules = true;
          task.wake();
        }),
        bus.onNotice('schema', () => checkRecordsSoon(subscriptions())),
      ];
      endListening = () => {
        for (const end of ends) end();
      };
    },
    async stop() {
      endListening();
      await task.stop();
    },
  };
}

/** Callers with equal keys look the same to every rule. */
function callerKey(principal: Principal): string {
  if (principal.type === 'guest') return `guest ${principal.rejectedToken}`;
  const { type, id } = principal;
  if (principal.type !== 'user') return JSON.stringify([type, id]);
  const { email, collection, verified, factors, signedInAtSec } = principal;
  return JSON.stringify([type, id, email, collection, verified, factors, signedInAtSec]);
}
