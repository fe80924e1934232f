/** The default theme with the project's colours, and the parts that move. */
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import PlaygroundForm from './PlaygroundForm.vue';
import SizeChart from './SizeChart.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('PlaygroundForm', PlaygroundForm);
    app.component('SizeChart', SizeChart);
  },
} satisfies Theme;
