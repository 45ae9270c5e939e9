import { client } from '../api/client.ts';

type Mode = 'system' | 'light' | 'dark';

const key = 'recordbus-theme';
const modes: readonly Mode[] = ['system', 'light', 'dark'];
const prefersLight = matchMedia('(prefers-color-scheme: light)');

/** The default colours, which are the dark theme's. The light theme has its own. */
const shipped: Readonly<Record<string, string>> = {
  accent: '#3b82f6',
  success: '#22c55e',
  warning: '#f59e0b',
  danger: '#ef4444',
};

/** Applies the light or dark theme, and the colours in the settings `theme.*`. */
class Theme {
  mode = $state<Mode>('system');
  #colours: Readonly<Record<string, string>> = {};

  /** Applies the mode that this browser remembers, then the stack's colours. */
  async start(): Promise<void> {
    this.mode = modes.find((mode) => mode === localStorage.getItem(key)) ?? 'system';
    this.#apply();
    prefersLight.addEventListener('change', () => this.#apply());
    await this.load();
  }

  /** Loads the stack's colours. */
  async load(): Promise<void> {
    this.#colours = await client.admin.theme().catch(() => ({}));
    this.#apply();
  }

  choose(mode: Mode): void {
    this.mode = mode;
    localStorage.setItem(key, mode);
    this.#apply();
  }

  #apply(): void {
    const isLight = this.mode === 'light' || (this.mode === 'system' && prefersLight.matches);
    const root = document.documentElement;
    root.dataset.theme = isLight ? 'light' : 'dark';
    for (const [name, colour] of Object.entries(this.#colours)) {
      const property = `--${name.replaceAll('_', '-')}`;
      const isCustom = isLight ? name in shipped && shipped[name] !== colour : true;
      if (isCustom) root.style.setProperty(property, colour);
      else root.style.removeProperty(property);
    }
  }
}

export const theme = new Theme();
