import type { Members } from './schema-target.ts';

/** Returns the webhooks by the names of their files, which are made from their names. Names may be equal. */
export function fileNamesOf(webhooks: readonly Members[]): Map<string, Members> {
  const files = new Map<string, Members>();
  for (const webhook of webhooks) {
    const slug =
      String(webhook.name)
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, '-')
        .slice(0, 60)
        .replaceAll(/^-|-$/g, '') || 'webhook';
    let name = `${slug}.json`;
    for (let count = 2; files.has(name); count += 1) name = `${slug}-${count}.json`;
    files.set(name, webhook);
  }
  return files;
}
