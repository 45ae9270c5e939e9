import type { Service } from '@recordbus/shared/service';
import { eventually } from '@recordbus/shared/testing';
import { startReceiver, type TestReceiver } from './test-receiver.ts';
import { type DeliveryRow, startTestWebhooks, type TestWebhooks } from './test-webhooks.ts';

/** Two replicas of the service, and receivers that end with their test. */
export interface WebhooksFixture {
  readonly stack: TestWebhooks;
  readonly replicas: Service[];
  receive(): Promise<TestReceiver>;
  /** Waits until this many deliveries of a webhook have succeeded or are dead. Returns all of its deliveries. */
  finished(webhookId: string, count: number): Promise<DeliveryRow[]>;
  /** Closes the receivers and deletes the webhooks of a test. */
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
      }, 60_000);
      return stack.deliveries(webhookId);
    },
    async clear() {
      for (const receiver of receivers.splice(0)) await receiver.close();
      await stack.database.query({ text: 'delete from system.webhooks', values: [] });
    },
  };
}
