import { AppError, forbidden, internalError, malformed, unauthenticated } from '@recordbus/errors';
import type { Identify } from '@recordbus/moved-sessions';
import type { Logger } from '@recordbus/process/logging';
import { sessionOf } from '@recordbus/sessions';
import type { Connection } from '../connection/connection.ts';
import { endForReconnect, isTemporary } from '../connection/end-for-reconnect.ts';
import { messages } from '../messages/messages.ts';
import type { RealtimeParts } from '../realtime-parts.ts';
import { givenId, maxSubscriptions, readSubscription } from '../subscribe/subscription-request.ts';
import { type ClientMessage, readClientMessage } from './client-message.ts';

export interface WsSessionDeps {
  readonly parts: RealtimeParts;
  readonly identify: Identify;
  readonly log: Logger;
}

/** How many of a client's messages may wait. A client that sends more is closed. */
const maxWaiting = 200;
/**
 * How many UTF-16 code units a connection's subscriptions may have together, as many as a POST body (realtime §2.4).
 */
const maxUnits = 2 ** 20;

/** Handles one client's messages, one after the other. */
export class WsSession {
  readonly #deps: WsSessionDeps;
  readonly #connection: Connection;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();
  #subscriptions = 0;
  /** How long the messages were that began subscriptions, by id. */
  readonly #units = new Map<string, number>();
  #isReady = false;
  #endAccount = () => {};

  constructor(deps: WsSessionDeps, connection: Connection) {
    this.#deps = deps;
    this.#connection = connection;
  }

  /** Takes a text message, which is handled after the earlier ones. */
  take(text: string): void {
    this.#waiting += 1;
    if (this.#waiting > maxWaiting) {
      this.#connection.end('bad_message');
      return;
    }
    this.#last = this.#last
      .then(() => this.#handle(text))
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  /** Removes the connection from the count for the account that signed in on it. */
  end(): void {
    this.#endAccount();
  }

  async #handle(text: string): Promise<void> {
    if (this.#connection.isEnded) return;
    try {
      await this.#obey(readClientMessage(text), text.length);
    } catch (error) {
      if (isTemporary(error)) return endForReconnect(this.#connection);
      if (!(error instanceof AppError)) this.#deps.log.error({ err: error }, 'a message on a live connection failed');
      this.#connection.send(messages.error(error instanceof AppError ? error : internalError(error)));
    }
  }

  async #obey(message: ClientMessage, units: number): Promise<void> {
    const connection = this.#connection;
    switch (message.type) {
      case 'ping':
        return connection.send(messages.pong());
      case 'unsubscribe':
        if (!connection.unfollow(message.id)) throw malformed(`id: there is no subscription ${message.id}`);
        return connection.send(messages.unsubscribed(message.id));
      case 'auth':
        return this.#signIn(message.token);
      case 'subscribe': {
        const { type: _, ...value } = message;
        return this.#subscribe(value, units);
      }
    }
  }

  async #subscribe(value: unknown, units: number): Promise<void> {
    const { subscriber } = this.#deps.parts;
    const connection = this.#connection;
    const refusal = this.#refusalOfOneMore(units);
    if (refusal) return connection.send(messages.error(refusal, givenId(value)));
    this.#subscriptions += 1;
    const wanted = readSubscription(value, this.#subscriptions);
    if (!connection.followed.has(wanted.id)) this.#units.set(wanted.id, units);
    const admissions = await subscriber.admit([wanted], connection.caller);
    const isFirst = !this.#isReady && admissions.some((one) => !('refusal' in one));
    if (isFirst) this.#isReady = true;
    // Not awaited, since the next message must not wait for a snapshot. It handles its failures.
    void subscriber.begin(connection, admissions, isFirst);
  }

  /** Why a subscription with this length is one too many; undefined if it is not. */
  #refusalOfOneMore(units: number): AppError | undefined {
    if (this.#connection.followed.size >= maxSubscriptions)
      return malformed(`a connection has at most ${maxSubscriptions} subscriptions`);
    if (this.#unitsOfSubscriptions() + units > maxUnits)
      return malformed(`a connection's subscriptions have at most ${maxUnits} characters`);
    return undefined;
  }

  #unitsOfSubscriptions(): number {
    let sum = 0;
    for (const [id, units] of this.#units) {
      if (this.#connection.followed.has(id)) sum += units;
      else this.#units.delete(id);
    }
    return sum;
  }

  /** Continues with the account's new token, or signs a guest in. */
  async #signIn(token: string): Promise<void> {
    const { parts, identify } = this.#deps;
    const connection = this.#connection;
    const principal = (await identify(token))?.principal;
    if (connection.isEnded) return;
    if (!principal || principal.type === 'guest' || !sessionOf(principal))
      throw unauthenticated('the token is not valid');
    const before = connection.principal;
    if (before.type !== 'guest' && !isSameAccount(before, principal))
      throw forbidden('the token belongs to another account', 'other_account');
    if (before.type === 'guest') this.#endAccount = parts.limits.enterAccount(principal);
    await parts.subscriber.rejoinConnection(connection, () => {
      parts.sessions.delete(connection);
      connection.principal = principal;
      parts.sessions.add(connection);
    });
    // It may have been revoked between the look-up and the watch.
    await parts.sessions.check(connection);
    connection.send(messages.authenticated(principal.expiresAtSec));
  }
}

const isSameAccount = (a: Connection['principal'], b: Connection['principal']): boolean =>
  a.type !== 'guest' &&
  b.type !== 'guest' &&
  a.type === b.type &&
  a.id === b.id &&
  (a.type !== 'user' || b.type !== 'user' || (a.collection === b.collection && a.impersonatedBy === b.impersonatedBy));
