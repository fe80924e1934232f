/** The default theme with the project's colours, and the parts that move. */
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import './style.css';

export default { extends: DefaultTheme } satisfies Theme;
