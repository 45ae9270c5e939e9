import type { Bus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import { runUnit, type UnitOfWork } from '@recordbus/journal';

/** This service's unit of work: events wake the relay, ended tokens notify the gateways, queued mails are sent. */
export type AuthUnit = UnitOfWork<'wakeRelay' | 'notifyGateways' | 'sendMails'>;

interface UnitDeps {
  readonly database: Pick<Database, 'transaction'>;
  readonly bus: Pick<Bus, 'notify'>;
}

/** Runs work in a transaction, and after the commit the functions that it added to `due`. */
export const runInUnit = <T>({ database, bus }: UnitDeps, work: (unit: AuthUnit) => Promise<T>): Promise<T> =>
  runUnit(
    database.transaction,
    {
      wakeRelay: () => bus.notify('outbox'),
      notifyGateways: () => bus.notify('accounts'),
      sendMails: () => bus.notify('mail'),
    },
    work,
  );
