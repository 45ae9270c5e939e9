import { randomUUID } from 'node:crypto';
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

/** What a gateway does for the clients whose streams it has. Undefined for a client that it does not have. */
export interface ForClients {
  submit(submission: Submission): Promise<GatewayAnswer | undefined>;
  deliver(delivery: Delivery): Promise<GatewayAnswer | undefined>;
}

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
]);

const message = z.union([
  z.object({ to: z.literal('stream'), request: z.string(), question }),
  z.object({
    to: z.literal('sender'),
    request: z.string(),
    answer: z.object({ status: z.number(), message: z.string() }),
  }),
]);

type Message = z.output<typeof message>;

/** How long the gateway with the stream has, in milliseconds. Its client asks again. */
const answerTimeoutMs = 3000;

const unavailable: GatewayAnswer = { status: 503, message: 'The server is busy. Try again later.' };

/** Asks the other gateways. Undefined if none has the client. */
export interface OtherGateways extends ForClients {
  /** Begins to receive. Until then, this gateway has no stream that another one could mean. */
  open(): void;
  close(): void;
}

/**
 * Connects this gateway with the others, by sealed messages: a client's request may reach another gateway than its
 * stream. `here` gets other gateways' requests.
 */
export function connectGateways(
  bus: Pick<Bus, 'publish' | 'subscribe'>,
  secret: Uint8Array,
  here: ForClients,
): OtherGateways {
  const sealed = createSealedTexts(secret);
  const waiting = new Map<string, (answer: GatewayAnswer) => void>();
  const send = (text: Message) => bus.publish('pocketbase', sealed.seal(JSON.stringify(text)));
  let end: (() => void) | undefined;

  async function receive(text: string): Promise<void> {
    const opened = sealed.open(text);
    const received = opened === undefined ? undefined : message.safeParse(JSON.parse(opened)).data;
    if (received?.to === 'sender') waiting.get(received.request)?.(received.answer);
    if (received?.to !== 'stream' || waiting.has(received.request)) return;
    const answer = await answerHere(received.question).catch(() => unavailable);
    if (answer) send({ to: 'sender', request: received.request, answer });
  }

  async function answerHere(asked: z.output<typeof question>): Promise<GatewayAnswer | undefined> {
    if ('delivery' in asked) return here.deliver(asked.delivery);
    const { address, ...submission } = asked.submission;
    return here.submit({ ...submission, address });
  }

  function ask(asked: z.output<typeof question>): Promise<GatewayAnswer | undefined> {
    const request = randomUUID();
    return new Promise((resolve) => {
      const settle = (answer?: GatewayAnswer) => {
        clearTimeout(timer);
        waiting.delete(request);
        resolve(answer);
      };
      const timer = setTimeout(settle, answerTimeoutMs);
      waiting.set(request, settle);
      send({ to: 'stream', request, question: asked });
    });
  }

  return {
    open() {
      end ??= bus.subscribe('pocketbase', (text) => void receive(text));
    },
    submit: ({ topics, address, ...submission }) =>
      ask({ submission: { ...submission, topics: [...topics], ...(address !== undefined && { address }) } }),
    deliver: ({ data, ...delivery }) => ask({ delivery: { ...delivery, data: { ...data } } }),
    close() {
      end?.();
      end = undefined;
    },
  };
}
