import { allowReceiver } from './allow-receiver.ts';
import { awaitDeliveries } from './awaited-deliveries.ts';
import { borrowSettings } from './borrowed-settings.ts';
import { planChanges, removeLeftovers } from './changes.ts';
import type { Client } from './client.ts';
import { ensureCollections } from './collections.ts';
import { Failure } from './failure.ts';
import { findLocalStack } from './find-stack.ts';
import { liftCreateLimit } from './lift-create-limit.ts';
import { loadDataSet } from './load.ts';
import type { Options } from './options.ts';
import { showProgress } from './progress.ts';
import { type Received, startReceiver } from './receiver.ts';
import { say, sayDelivery, sayDeliveryHeader } from './say.ts';
import { signIn } from './sign-in.ts';
import { registerWebhook } from './webhook.ts';

const arrivalTimeoutMs = 30_000;

/** Runs the demo, from an empty stack to verified deliveries. Throws Failure when something did not work. */
export async function runDemo(options: Options): Promise<void> {
  const { email, password } = options;
  const stack = options.url ? { url: options.url, setupToken: undefined } : await findLocalStack();
  say('stack', stack.url);
  const { admin, ...account } = await signIn({
    url: stack.url,
    setupToken: options.setupToken ?? stack.setupToken,
    credentials: email && password ? { email, password } : undefined,
  });
  say('admin', account.newPassword ? `${account.email}, created with password ${account.newPassword}` : account.email);

  await using cleanUp = new AsyncDisposableStack();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void cleanUp.disposeAsync().finally(() => process.exit(130)));

  const settings = await borrowSettings(admin);
  cleanUp.defer(() => settings.restore());
  const host = options.receiverHost ?? '127.0.0.1';
  const allowed = await allowReceiver(settings, host);
  if (allowed) say('egress', `hooks.http.allow temporarily allows ${allowed}`);
  const lifted = await liftCreateLimit(settings);
  if (lifted) say('limits', `rate_limit.rules temporarily has a rule for ${lifted}`);

  const ids = await load(admin);

  let onReceived = (_: Received) => {};
  const receiver = await startReceiver(options.receiverHost !== undefined, (received) => onReceived(received));
  cleanUp.defer(() => receiver.close());
  const webhook = await registerWebhook(admin, `http://${host}:${receiver.port}/`);
  cleanUp.defer(() => webhook.remove());
  say('webhook', `countries.* to ${webhook.url}, until the end of the demo`);

  const deliveries = awaitDeliveries(webhook.secret);
  sayDeliveryHeader();
  onReceived = (received) => sayDelivery(deliveries.receive(received));
  const changes = planChanges(ids);
  for (const { event, code, make } of changes) {
    await make(admin, () => deliveries.expect(event, code));
  }
  if (!(await deliveries.allArrived(arrivalTimeoutMs))) {
    const reason = await webhook.findError();
    throw new Failure(
      `Not delivered within ${arrivalTimeoutMs / 1000} s: ${deliveries.missing().join(', ')}.${reason ? ` The stack says: ${reason}.` : ''}`,
    );
  }
  process.stdout.write(`\n  All ${changes.length} changes were delivered with two valid signatures each.\n`);
  process.stdout.write(
    `  Look around: curl "${stack.url}/api/v1/countries?perPage=3&sort=area_km2&fields=name,area_km2"\n`,
  );
}

async function load(admin: Client) {
  const { created, reused } = await ensureCollections(admin);
  if (created.length) say('created', created.join(', '));
  if (reused.length) say('reused', reused.join(', '));
  const { ids, createdCount, presentCount, seconds } = await loadDataSet(admin, showProgress(process.stderr));
  await removeLeftovers(admin, ids);
  const rate = `in ${seconds.toFixed(1)} s (${Math.round(createdCount / seconds)}/s)`;
  const parts = [createdCount && `${createdCount} records ${rate}`, presentCount && `${presentCount} already existed`];
  say('loaded', parts.filter(Boolean).join(', '));
  return ids;
}
