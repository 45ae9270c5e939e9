import { findNamedKey, namedKey, settingFamilies } from '@recordbus/settings';
import type pg from 'pg';
import { type Finding, fine, warning } from './finding.ts';

const subject = 'captchas';
const family = 'auth.captcha.<collection>';

/** Examines which collections ask for a captcha, and whether each one can be verified (auth §10). */
export async function examineCaptchas(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ key: string; value: string }>(
    "select key, value from system.settings where key like 'auth.captcha.%' order by key",
  );
  const stored = new Map(rows.map(({ key, value }) => [key, value]));
  const asked: string[] = [];
  const withoutSecret: string[] = [];
  for (const [key, value] of stored) {
    const named = findNamedKey(key);
    const setting = named?.family === family ? settingFamilies[family].schema.safeParse(value).data : undefined;
    if (!named || !setting) continue;
    asked.push(`${named.name} (${setting.provider}: ${setting.on.join(', ')})`);
    if (setting.provider !== 'altcha' && !stored.has(namedKey('auth.captcha.<collection>.secret', named.name)))
      withoutSecret.push(named.name);
  }
  if (withoutSecret.length === 0) return [fine(subject, asked.length === 0 ? 'none' : asked.join('; '))];
  return [
    warning(
      subject,
      `no secret key: ${withoutSecret.join(', ')}`,
      'Nobody signs up there, and who signs in is not asked. Set auth.captcha.<collection>.secret.',
    ),
  ];
}
