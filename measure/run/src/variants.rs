//! Systems that are variants of others: the same runs with additions to Linux's command line.

use super::plan::{Like, Plan, Run};

impl Plan {
    /// Gives each variant the runs, figures and conditions of the system that it is like. Charts
    /// that name no system do not draw variants.
    pub fn with_variants(mut self) -> Plan {
        let variants: Vec<(String, Like)> =
            self.system.iter().filter_map(|system| Some((system.name.clone(), system.like.clone()?))).collect();
        if variants.is_empty() {
            return self;
        }
        let others: Vec<String> =
            self.system.iter().filter(|system| system.like.is_none()).map(|system| system.name.clone()).collect();
        self.chart
            .iter_mut()
            .filter(|chart| chart.systems.is_empty())
            .for_each(|chart| chart.systems.clone_from(&others));
        for (name, like) in &variants {
            let runs: Vec<Run> =
                self.run.iter().filter(|run| run.system == like.system).map(|run| like.run(name, run)).collect();
            self.run.extend(runs);
            let figures = self.figure.iter_mut().map(|figure| &mut figure.systems);
            let lists = figures.chain(self.valid.iter_mut().map(|valid| &mut valid.systems));
            lists.filter(|list| list.contains(&like.system)).for_each(|list| list.push(name.clone()));
        }
        self
    }
}

impl Like {
    fn run(&self, name: &str, run: &Run) -> Run {
        let mut run = Run { system: name.to_owned(), quick: run.quick && self.quick, ..run.clone() };
        run.boot.append(&self.append);
        run.quick_boot.iter_mut().for_each(|boot| boot.append(&self.append));
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"
        title = "t"
        about = "a"
        [[system]]
        name = "task"
        title = "Task"
        [[system]]
        name = "linux"
        title = "Linux"
        [[system]]
        name = "linux-off"
        title = "Linux, off"
        like = { system = "linux", append = "mitigations=off" }
        [[run]]
        system = "task"
        [[run]]
        system = "linux"
        boot = { direct = true }
        quick_boot = { direct = true, append = "quiet" }
        in_linux = "latency"
        prefix = "p_"
        [[run]]
        system = "linux"
        quick = false
        [[figure]]
        name = "f"
        systems = ["linux"]
        about = "f"
        unit = "ns"
        [[figure]]
        name = "g"
        systems = ["task"]
        about = "g"
        unit = "ns"
        [[valid]]
        figure = "f"
        systems = ["task", "linux"]
        [[valid]]
        figure = "h"
        [[chart]]
        kind = "histogram"
        title = "of all"
        series = ["f"]
        [[chart]]
        kind = "histogram"
        title = "of one"
        series = ["f"]
        systems = ["linux-off"]
    "#;

    fn plan(text: &str) -> Plan {
        toml::from_str::<Plan>(text).unwrap_or_else(|error| panic!("{error}")).with_variants()
    }

    #[test]
    fn a_variant_runs_what_the_other_one_runs() {
        let plan = plan(PLAN);
        let runs: Vec<&Run> = plan.run.iter().filter(|run| run.system == "linux-off").collect();
        assert_eq!(runs.len(), 2);
        assert_eq!(runs[0].boot.options(), ["--append", "mitigations=off", "--direct"]);
        let quick = runs[0].quick_boot.as_ref().unwrap();
        assert_eq!(quick.options(), ["--append", "quiet mitigations=off", "--direct"]);
        assert_eq!((runs[0].in_linux.as_deref(), &*runs[0].prefix), (Some("latency"), "p_"));
        assert_eq!(
            plan.run.iter().filter(|run| run.system == "linux" && run.boot.options() == ["--direct"]).count(),
            1
        );
    }

    #[test]
    fn the_short_form_has_it_only_where_both_say_so() {
        let quick = |text: &str| -> Vec<bool> {
            plan(text).run.iter().filter(|run| run.system == "linux-off").map(|run| run.quick).collect()
        };
        assert_eq!(quick(PLAN), [false, false]);
        assert_eq!(quick(&PLAN.replace("off\" }", "off\", quick = true }")), [true, false]);
    }

    #[test]
    fn it_has_the_figures_and_conditions_of_the_other_one_and_the_charts_that_name_it() {
        let plan = plan(PLAN);
        assert_eq!(plan.figure[0].systems, ["linux", "linux-off"]);
        assert_eq!(plan.figure[1].systems, ["task"]);
        assert_eq!(plan.valid[0].systems, ["task", "linux", "linux-off"]);
        assert_eq!(plan.valid[1].systems, [""; 0], "all");
        assert_eq!(plan.chart[0].systems, ["task", "linux"]);
        assert_eq!(plan.chart[1].systems, ["linux-off"]);
    }
}
