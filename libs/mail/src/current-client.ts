import type { Settings } from '@recordbus/settings';
import { createSmtpClient, type SmtpClient } from './smtp-client.ts';

/** The SMTP client for the current settings, which all mails share. */
export interface CurrentClient {
  /** Creates the client unless there is one. */
  open(): Promise<SmtpClient>;
  /** Closes the client. The next mail creates a client with the settings at that time. */
  drop(): void;
}

/** Creates the client's holder; the first mail creates the client itself. */
export function createCurrentClient(settings: Pick<Settings, 'get'>): CurrentClient {
  let client: Promise<SmtpClient> | undefined;
  return {
    open() {
      client ??= createSmtpClient(settings);
      return client.catch((error) => {
        // The next attempt creates another client.
        client = undefined;
        throw error;
      });
    },
    drop() {
      client?.then((one) => one.close()).catch(() => {});
      client = undefined;
    },
  };
}
