import { createClient, type OpenedPortal, type OwnedWebhooks } from '@recordbus/client';
import { applyTheme } from './apply-theme.ts';

/** An opened portal: the owner's webhooks. */
export interface Portal {
  readonly webhooks: OwnedWebhooks;
  readonly title: string;
}

const key = 'recordbus-portal';

/**
 * Opens the link in the address, or continues this tab's session. The link's token is removed from the address at once, so
 * it stays in no history. Undefined without either.
 */
export async function openPortal(): Promise<Portal | undefined> {
  const token = location.hash.slice(1);
  if (token === '') return continueSession();
  history.replaceState(null, '', location.pathname);
  const opened = await createClient(location.origin).openPortal(token);
  remember(JSON.stringify(opened));
  return portalOf(opened);
}

/** A reload keeps the session. In a frame, a browser may refuse to keep anything. */
function continueSession(): Portal | undefined {
  try {
    const opened: OpenedPortal | null = JSON.parse(sessionStorage.getItem(key) ?? 'null');
    return opened && opened.expires_at > Date.now() / 1000 ? portalOf(opened) : undefined;
  } catch {
    return undefined;
  }
}

function remember(text: string): void {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    // The portal works until it is reloaded.
  }
}

function portalOf({ session, owner, theme }: OpenedPortal): Portal {
  applyTheme(theme);
  const client = createClient(location.origin, { headers: { 'X-Portal-Session': session } });
  return { webhooks: client.webhooks(owner), title: theme.title || 'Webhooks' };
}
