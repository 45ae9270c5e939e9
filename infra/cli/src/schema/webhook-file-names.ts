import type { Members } from './schema-target.ts';

/** Device names, which are not files on Windows. */
const devices = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

/** Whether a file may be named like a webhook, on every system, and be read again as a schema file. */
const isFileName = (name: string): boolean =>
  /^[^\p{C}<>:"/\\|?*]{1,80}$/u.test(name) &&
  !/^[. -]|[. ]$/.test(name) &&
  !/\.(d|test)$/.test(name) &&
  !devices.test(name.split('.', 1)[0] ?? '') &&
  name.toLowerCase() !== 'readme';

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replaceAll(/^-|-$/g, '') || 'webhook';

/**
 * Returns the webhooks by file name: the file that already has the webhook, otherwise the webhook's name, reduced to
 * what a file may be named. Webhook names may be equal, also for systems that ignore case.
 */
export function fileNamesOf(
  webhooks: readonly Members[],
  filesByName: ReadonlyMap<string, string> = new Map(),
): Map<string, Members> {
  const files = new Map<string, Members>();
  const taken = new Set<string>();
  const add = (file: string, webhook: Members): void => {
    taken.add(file.toLowerCase());
    files.set(file, webhook);
  };
  const others: Members[] = [];
  for (const webhook of webhooks) {
    const file = filesByName.get(String(webhook.name));
    if (file !== undefined && !taken.has(file.toLowerCase())) add(file, webhook);
    else others.push(webhook);
  }
  for (const webhook of others) {
    const name = String(webhook.name);
    const slug = slugOf(name);
    const base = isFileName(name) ? name : isFileName(slug) ? slug : `webhook-${slug}`;
    let file = `${base}.json`;
    for (let count = 2; taken.has(file.toLowerCase()); count += 1) file = `${base}-${count}.json`;
    add(file, webhook);
  }
  return files;
}
