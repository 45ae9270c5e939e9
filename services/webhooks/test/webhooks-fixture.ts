import type { Service } from '@recordbus/http/service';
import { eventually } from '@recordbus/testing';
import { startReceiver, type TestReceiver } from './test-receiver.ts';
import { type DeliveryRow, startTestWebhooks, type TestWebhooks } from './test-webhooks.ts';

/** Two service replicas, and receivers that end with their test. */
export interface WebhooksFixture {
  readonly stack: TestWebhooks;
  readonly replicas: Service[];
  receive(): Promise<TestReceiver>;
  /** Waits until this many of a webhook's deliveries have succeeded or are dead. Returns all its deliveries. */
  finished(webhookId: string, count: number): Promise<DeliveryRow[]>;
  /** Closes a test's receivers and deletes its webhooks. */
  clear(): Promise<void>;
}

/** Starts the replicas and waits until one has created the stream. */
export async function startFixture(): Promise<WebhooksFixture> {
  const stack = await startTestWebhooks();
  const replicas = [await stack.startReplica(), await stack.startReplica()];
  const receivers: TestReceiver[] = [];
  await eventually(async () => {
    try {
      await stack.emit('before.anything');
      return true;
    } catch {
      return false;
    }
  });
  return {
    stack,
    replicas,
    async receive() {
      const receiver = await startReceiver();
      receivers.push(receiver);
      return receiver;
    },
    async finished(webhookId, count) {
      await eventually(async () => {
        const rows = await stack.deliveries(webhookId);
        return rows.filter(({ status }) => status !== 'pending').length >= count;
      }, 300_000);
      return stack.deliveries(webhookId);
    },
    async clear() {
      for (const receiver of receivers.splice(0)) await receiver.close();
      await stack.database.query({ text: 'delete from system.webhooks', values: [] });
    },
  };
}
