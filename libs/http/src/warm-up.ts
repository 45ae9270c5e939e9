import type { Logger } from '@recordbus/process/logging';
import type { Service } from './service.ts';

/**
 * Warms the services, one after the other, so that they leave time to requests. Resolves when all are warm; a failure is
 * logged, and the first request that needs the part tries again.
 */
export async function warmUp(services: readonly Pick<Service, 'name' | 'warm'>[], log: Logger): Promise<void> {
  for (const { name, warm } of services)
    await warm?.().catch((err: unknown) => log.warn({ err, part: name }, 'cannot load everything that requests need'));
  log.info('warm');
}
