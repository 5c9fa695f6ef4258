"""The measurements of `./dev bench`, each as a ratio in one run or against a stated limit."""
