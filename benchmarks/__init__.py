"""What `./dev bench` measures, each as a ratio in one run or against a stated limit."""
