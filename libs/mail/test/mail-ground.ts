import { after, afterEach, before } from 'node:test';
import { type Bus, connectBus } from '@recordbus/bus';
import { createValueCipher } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import { createSettings, patchSettings, type Settings, type SettingsPatch } from '@recordbus/settings';
import { eventually } from '@recordbus/testing';
import {
  createMailSender,
  enqueueMail,
  listMails,
  type Mail,
  type MailOutcome,
  type MailSender,
} from '../src/index.ts';
import { type MailServer, startMailServer } from './mail-server.ts';

/** The record that the tests' mails are about. */
export const about = { collectionId: 'c1', recordId: 'r1' };

interface QueuedMail {
  readonly attempts: number;
  readonly created_at: Date;
  readonly next_attempt_at: Date;
}

/**
 * Gives the suite that calls it a database, settings and mail senders. They work from the first test on; each test's
 * senders, servers and mails end with it.
 */
export function prepareMailGround() {
  let own: OpenTemporaryDatabase;
  let database: Database;
  let bus: Bus;
  let settings: Settings;
  const quiet = createLogger('mail test', 'silent');
  const cipher = createValueCipher('a passphrase');
  const running: { stop(): Promise<void> }[] = [];
  const outcomes: MailOutcome[] = [];

  before(async () => {
    own = await openTemporaryDatabase();
    database = own.database;
    // Nothing listens on the discard port. Notices within one process need no server.
    bus = connectBus({ urls: 'nats://127.0.0.1:9', name: 'mail test', log: quiet });
    settings = createSettings({ database, bus, log: quiet, cipher, pollIntervalMs: 50 });
    await settings.start();
  });
  afterEach(async () => {
    outcomes.length = 0;
    for (const part of running.splice(0).reverse()) await part.stop();
    await database.query({ text: 'delete from system.mail_queue', values: [] });
    await database.query({ text: 'delete from system.mails', values: [] });
  });
  after(async () => {
    await settings.stop();
    await bus.close();
    await own.remove();
  });

  async function serve(options: Parameters<typeof startMailServer>[0] = {}): Promise<MailServer> {
    const server = await startMailServer(options);
    // It closes after the senders that are connected to it.
    running.unshift({ stop: () => server.close() });
    return server;
  }
  function startSender(): MailSender {
    const sender = createMailSender({
      query: database.query,
      bus,
      settings,
      cipher,
      log: quiet,
      onOutcome: (outcome) => outcomes.push(outcome),
    });
    sender.start();
    running.push(sender);
    return sender;
  }
  async function configure(port: number, more: SettingsPatch = {}): Promise<void> {
    const patch: SettingsPatch = {
      'smtp.enabled': '1',
      'smtp.host': '127.0.0.1',
      'smtp.port': String(port),
      'smtp.from': 'The Office <office@example.com>',
      'smtp.user': '',
      'smtp.pass': '',
      ...more,
    };
    await patchSettings({ database, bus, cipher }, patch);
    await settings.refresh();
  }
  async function send(mail: Partial<Mail> = {}): Promise<void> {
    const whole = {
      template: 'verify',
      to: 'ada@example.com',
      collection: 'users',
      about,
      token: 'secret-token',
      usefulForSec: 600,
      ...mail,
    };
    await enqueueMail(database.query, whole as Mail);
    bus.notify('mail');
  }
  const queued = () => database.query<QueuedMail>({ text: 'select * from system.mail_queue', values: [] });
  /** The log's rows: recipient, state, attempts, last error. */
  const logged = async () =>
    (await listMails(database.query, { page: 1, perPage: 100 })).rows.map(
      ({ to, state, attempts, last_error }) => `${to} ${state} ${attempts} ${last_error}`,
    );
  const untilQueueIsEmpty = () => eventually(async () => (await queued()).length === 0);
  const dueNow = () =>
    database.query({ text: 'update system.mail_queue set next_attempt_at = now(), lease_until = null', values: [] });

  return {
    cipher,
    outcomes,
    serve,
    startSender,
    configure,
    send,
    queued,
    logged,
    untilQueueIsEmpty,
    dueNow,
    get database() {
      return database;
    },
    get bus() {
      return bus;
    },
    get settings() {
      return settings;
    },
  };
}
