import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Bus } from '@recordbus/bus';
import { z } from 'zod';
import { createSealedTexts } from './sealed-text.ts';

/** A client's topics, sent to the gateway that has its stream. */
export interface Submission {
  readonly clientId: string;
  readonly topics: readonly string[];
  /** Names the account; empty for a guest. */
  readonly account: string;
  /** The client's address and headers, for calls in its name. */
  readonly address: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** A message for one client. */
export interface Delivery {
  readonly clientId: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What the gateway with the client's stream answers. */
export interface GatewayAnswer {
  readonly status: number;
  readonly message: string;
}

/** Which streams of a gateway have ended. */
type ListEnded = (ids: readonly string[]) => Promise<readonly string[]>;

/** What a gateway does for the clients whose streams it has. Undefined for a client that it does not have. */
export interface ForClients {
  submit(submission: Submission): Promise<GatewayAnswer | undefined>;
  deliver(delivery: Delivery): Promise<GatewayAnswer | undefined>;
}

const answerText = z.object({ status: z.number(), message: z.string() });
const endedText = z.object({ ended: z.array(z.string()) });

const question = z.union([
  z.object({
    submission: z.object({
      clientId: z.string(),
      topics: z.array(z.string()),
      account: z.string(),
      address: z.string().optional(),
      headers: z.record(z.string(), z.union([z.string(), z.array(z.string())]).optional()),
    }),
  }),
  z.object({
    delivery: z.object({ clientId: z.string(), event: z.string(), data: z.record(z.string(), z.unknown()) }),
  }),
  z.object({ streams: z.array(z.string()) }),
]);

type AboutClient = Exclude<z.output<typeof question>, { readonly streams: unknown }>;

const unavailable: GatewayAnswer = { status: 503, message: 'The server is busy. Try again later.' };

/** Asks the gateway that has the client. Undefined if none has it. Throws 413, and 503 without an answer. */
export interface OtherGateways extends ForClients {
  /** Begins to answer other gateways. Until then, this gateway has no stream that they could mean. */
  open(): void;
  /** Asks a gateway which of its streams (hashes) have ended: all, if it does not answer. */
  listEnded(gateway: string, ids: readonly string[]): Promise<readonly string[]>;
  close(): void;
}

/** This gateway's name, with which its streams' ids begin. */
export const newGatewayName = (): string => randomBytes(9).toString('base64url');

const clientIdShape = /^([\w-]{12})\.[\w-]{40}$/;

/** Makes a stream's id, which names its gateway. */
export const newClientId = (gateway: string): string => `${gateway}.${randomBytes(30).toString('base64url')}`;

const placeOf = (gateway: string): string => `pocketbase-${gateway}`;
const gone: GatewayAnswer = { status: 404, message: '' };

/**
 * Connects this gateway with the others, by sealed messages: a client's request may reach another gateway than its
 * stream. `here` gets other gateways' requests.
 */
export function connectGateways(
  bus: Pick<Bus, 'ask' | 'answerAt'>,
  {
    name,
    secret,
    here,
  }: {
    readonly name: string;
    readonly secret: Uint8Array;
    readonly here: ForClients & { readonly listEnded: ListEnded };
  },
): OtherGateways {
  const sealed = createSealedTexts(secret);
  let end: (() => void) | undefined;

  async function answer(text: string): Promise<string> {
    const opened = sealed.open(text);
    const asked = opened === undefined ? undefined : question.safeParse(JSON.parse(opened)).data;
    if (asked && 'streams' in asked) return sealed.seal(JSON.stringify({ ended: await here.listEnded(asked.streams) }));
    const given = asked && (await answerHere(asked).catch(() => unavailable));
    return sealed.seal(JSON.stringify(given ?? gone));
  }

  async function answerHere(asked: AboutClient): Promise<GatewayAnswer | undefined> {
    if ('delivery' in asked) return here.deliver(asked.delivery);
    const { address, ...submission } = asked.submission;
    return here.submit({ ...submission, address });
  }

  async function ask(clientId: string, asked: AboutClient): Promise<GatewayAnswer | undefined> {
    const gateway = clientIdShape.exec(clientId)?.[1];
    if (gateway === undefined || gateway === name) return undefined;
    const given = answerText.safeParse(await askAt(gateway, asked)).data;
    return given?.status === gone.status ? undefined : given;
  }

  async function askAt(gateway: string, asked: z.output<typeof question>): Promise<unknown> {
    const text = await bus.ask(placeOf(gateway), sealed.seal(JSON.stringify(asked)));
    const opened = text === undefined ? undefined : sealed.open(text);
    return opened === undefined ? undefined : JSON.parse(opened);
  }

  return {
    open() {
      end ??= bus.answerAt(placeOf(name), answer);
    },
    submit: ({ topics, address, ...submission }) =>
      ask(submission.clientId, {
        submission: { ...submission, topics: [...topics], ...(address !== undefined && { address }) },
      }),
    deliver: ({ data, ...delivery }) => ask(delivery.clientId, { delivery: { ...delivery, data: { ...data } } }),
    async listEnded(gateway, ids) {
      const given = await askAt(gateway, { streams: [...ids] }).catch(() => undefined);
      return endedText.safeParse(given).data?.ended ?? ids;
    },
    close() {
      end?.();
      end = undefined;
    },
  };
}
